-- view: subscripts
SELECT id, ia[1] AS a, ia[2] AS b, ia[0] AS z, ia[x] AS dyn, (string_to_array(t, ' '))[1] AS w FROM a;
-- view: subscript_of_aggregate
SELECT x, (array_agg(id ORDER BY m DESC))[1] AS top FROM a GROUP BY x;
-- view: interval_literals
SELECT id, ts + interval '1 day 02:03:04' AS p, ts - interval '1-2' AS q FROM a;
-- view: enum_aggregates
SELECT x, min(md) AS lo, max(md) AS hi, mode() WITHIN GROUP (ORDER BY md) AS mo, percentile_disc(0.5) WITHIN GROUP (ORDER BY md) AS pd FROM a GROUP BY x;
-- view: top_by_enum
SELECT id, md FROM a ORDER BY md DESC, id LIMIT 7;
-- view: distinct_on_enum
SELECT DISTINCT ON (md) md, id FROM a ORDER BY md, id DESC;
-- view: json_steps
SELECT id, j -> 'items' AS i, (j -> 'o')::text AS o, j ->> 'items' AS it, j -> 'items' -> 1 ->> 'd' AS dd FROM a;
-- view: json_in_calls
SELECT id, jsonb_array_length(j -> 'items') AS n, jsonb_typeof(j -> 'k') AS ty, coalesce(j -> 'nope', '{"b": 1, "a": 2}'::jsonb)::text AS c FROM a;
-- view: json_elements_alias
SELECT a.id, e FROM a, jsonb_array_elements_text(a.j -> 'items') e;
-- view: key_and_array_operators
SELECT id FROM a WHERE j ? 'k' AND j ?| array['zz','o'] AND ia && ARRAY[3,4,5] OR ARRAY[1] <@ ia;
-- view: null_branch
SELECT NULL AS d, id FROM a UNION ALL SELECT y, id FROM b;
-- view: untyped_branches
SELECT d, 'a' AS k FROM a UNION SELECT '2024-01-01', NULL;
-- view: all_and_like_any
SELECT id, x <> ALL (ARRAY[1,2]) AS p, t LIKE ANY (ARRAY['tab%', 'z%']) AS q FROM a;
-- view: escaped_strings
SELECT id, E'a\tb' || t AS e, $$it's$$ AS q FROM a;
-- view: array_subquery
SELECT b.id, ARRAY(SELECT a.id FROM a WHERE a.x = b.x ORDER BY a.id) AS ids FROM b;
-- view: smallint_products
SELECT id, s * 100 AS p, s + 1000 AS q, s * 2 - 5 AS r FROM a;
-- view: wide_products
SELECT sum(m * m) AS mm, sum(id * m) AS im FROM a;
-- view: concat_booleans
SELECT concat(b, '|', x) AS c, concat_ws(',', b, id) AS d FROM a;
-- view: regular_expressions
SELECT id, substring(t from 'x([0-9]+)') AS g, substring(t from 'z*') AS e, t ~ 'x.*ż' AS dot, regexp_replace(t, 'x([0-9]+)', '<\1>\&') AS r FROM a;
-- view: split_of_nothing
SELECT id, cardinality(string_to_array('', ',')) AS n FROM a;
-- view: bytea_literal
SELECT id FROM a WHERE by = '\x00ff10';
-- view: row_to_json
SELECT id, row_to_json(b)::text AS r, to_jsonb(b)::text AS j FROM b;
-- view: rows_as_json
SELECT x, json_agg(b ORDER BY b.id) AS all_rows, jsonb_agg(b ORDER BY b.id)::text AS txt, json_agg(b ORDER BY b.id)::text AS jt FROM b GROUP BY x;
-- view: lateral_values
SELECT a.id, v.k, v.val FROM a CROSS JOIN LATERAL (VALUES ('x', a.x), ('s', a.s::int)) v(k, val);
-- view: max_of_values
SELECT id, (SELECT max(v) FROM (VALUES (x), (s::int)) t(v)) AS mx FROM a;
-- view: ties_after_offset
SELECT x FROM b WHERE x IS NOT NULL ORDER BY x DESC OFFSET 2 FETCH FIRST 5 ROWS WITH TIES;
-- view: in_values
SELECT id FROM b WHERE t IN (VALUES ('w1'), ('w5'));
-- view: exists_without_from
SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM a WHERE x = 2);
-- view: real_to_numeric
SELECT id, f4::numeric = 0.1 AS e, f4::numeric(10,3) AS n FROM a;
-- view: age_of_today
SELECT id, age(d) = age(current_date, d) AS same FROM a;
-- view: order_by_enum_key
SELECT md, count(*) AS n FROM a WHERE md > 'sad' GROUP BY md ORDER BY md;
-- view: left_join_on_a_left_condition
SELECT a.id, b.id AS bid FROM a LEFT JOIN b ON b.x = a.x AND a.b AND a.t LIKE 'tab%';
-- view: not_exists_on_an_outer_condition
SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND a.s > 3000);
-- view: full_join_on_a_left_condition
SELECT a.id, b.id AS bid FROM a FULL JOIN b ON b.id = a.id AND a.b;
-- view: distinct_statistics
SELECT x, stddev(DISTINCT s) AS sd, bit_xor(DISTINCT s::int) AS bx, string_agg(DISTINCT t, ',' ORDER BY t) AS ts FROM a GROUP BY x;
-- view: padded_like
SELECT id, ch LIKE 'ab' AS p, ch LIKE 'ab   ' AS q, concat(ch, '|') AS c, length(ch) AS n FROM a;
-- view: any_of_nothing
SELECT id, x = ANY ('{}'::int[]) AS none, x = ANY (ia) AS some FROM a;
-- view: distinct_grouping_sets
SELECT x, b, count(*) AS n FROM a GROUP BY DISTINCT ROLLUP (x), ROLLUP (x, b);
-- view: similar_to
SELECT id, t SIMILAR TO 'tab x(1|2)%' AS p, ch NOT SIMILAR TO '[a-c]+' AS q, t SIMILAR TO '%x_' AS r, md::text SIMILAR TO '(sad|ok)' AS s FROM a;
-- view: aggregate_of_the_enclosing_query
SELECT x, (SELECT count(*) FROM b WHERE b.y > max(a.id)) AS n, (SELECT (SELECT b.id + min(a.id) FROM b WHERE b.id = 1)) AS deep FROM a GROUP BY x;
-- view: aggregate_of_the_enclosing_query_in_having
SELECT x, sum(m) AS s FROM a GROUP BY ROLLUP (x) HAVING EXISTS (SELECT 1 FROM b WHERE b.x = min(a.x)) ORDER BY (SELECT max(a.id));
-- view: hypothetical_places
SELECT x, rank(3) WITHIN GROUP (ORDER BY m) AS r, dense_rank(NULL::numeric) WITHIN GROUP (ORDER BY m DESC) AS d, percent_rank(2) WITHIN GROUP (ORDER BY m NULLS FIRST) FILTER (WHERE b) AS p, cume_dist(5) WITHIN GROUP (ORDER BY m DESC) AS c FROM a GROUP BY x;
-- view: hypothetical_place_in_nothing
SELECT rank(3) WITHIN GROUP (ORDER BY m) AS r, percent_rank('q') WITHIN GROUP (ORDER BY t) AS p, cume_dist(1) WITHIN GROUP (ORDER BY id) AS c FROM a WHERE id < 0;
-- view: distinct_json
SELECT x, jsonb_agg(DISTINCT t) AS j, json_agg(DISTINCT s ORDER BY s DESC) FILTER (WHERE b) AS k FROM a GROUP BY x;
-- view: whole_rows
SELECT a.x, count(b) AS n, count(b.*) AS m, max((a).t) AS t FROM a LEFT JOIN b ON b.x = a.x GROUP BY 1;
-- view: exists_over_both_sides
SELECT a.id, b.id AS bid FROM a LEFT JOIN b ON b.x = a.x AND EXISTS (SELECT 1 FROM a c WHERE c.id > a.id AND c.x < b.y);
-- view: count_over_both_sides
SELECT a.t, b.t AS bt, count(*) AS n FROM a RIGHT JOIN b ON b.x = a.x AND (SELECT count(*) FROM a c WHERE c.x = b.x AND c.id <> a.id) > 0 GROUP BY 1, 2;
-- view: not_in_over_both_sides
SELECT a.x, b.t FROM a FULL JOIN b ON b.x = a.x AND a.s NOT IN (SELECT c.s FROM a c WHERE c.x = b.y AND c.id > a.id);
-- view: rollup_of_conditions
SELECT x, m > 3 AS big, b IS NULL AS unknown, count(*) AS n FROM a GROUP BY ROLLUP (x, m > 3), GROUPING SETS ((b IS NULL), ());
