-- view: compared_and_shown
SELECT id, coalesce(c, 'none') = 'none' AS a, coalesce(c, 'none') = 'none  ' AS b, coalesce(c,'none') LIKE 'none' AS l, coalesce(c, 'none') IN ('none', 'ab') AS i, coalesce(c, 'none') || '|' AS s, concat(coalesce(c,'none'), '|') AS k, length(coalesce(c,'none')) AS n, upper(coalesce(c,'none')) || '|' AS u, coalesce(c,'none') < 'b' AS lt FROM t;
-- view: grouped
SELECT coalesce(c, 'none') AS k, count(*) AS n, sum(id) AS s FROM t GROUP BY coalesce(c, 'none');
-- view: distinct_values
SELECT DISTINCT coalesce(c, 'none') AS k FROM t;
-- view: groups_shown
SELECT k || '|' AS k, n FROM (SELECT coalesce(c, 'none') AS k, count(*) AS n FROM t GROUP BY 1) z WHERE k <> 'ab';
-- view: joined
SELECT t.id, u.n FROM t JOIN u ON u.c = coalesce(t.c, 'none');
-- view: outer_joined
SELECT t.id, u.n FROM t LEFT JOIN u ON coalesce(u.c, '-') = coalesce(t.c, '-');
-- view: united
SELECT c FROM t UNION SELECT c FROM u;
-- view: two_lengths_grouped
SELECT c, count(*) AS n FROM (SELECT c FROM t UNION ALL SELECT c FROM u UNION ALL SELECT 'none') z GROUP BY c;
-- view: except_of_two_lengths
SELECT c FROM t EXCEPT SELECT c FROM u;
-- view: intersect_of_two_lengths
SELECT c FROM t INTERSECT SELECT c FROM u;
-- view: in_a_subquery
SELECT id, x FROM t WHERE coalesce(c, 'q') IN (SELECT c FROM u);
-- view: not_in_a_subquery
SELECT id FROM t WHERE coalesce(c, 'zz') NOT IN (SELECT c FROM u WHERE c IS NOT NULL);
-- view: exists_beside_it
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.c = coalesce(t.c, 'none'));
-- view: correlated_values
SELECT id, (SELECT max(n) FROM u WHERE u.c = coalesce(t.c, 'none')) AS m, (SELECT string_agg(u.n || coalesce(t.c, 'none'), ',' ORDER BY n) FROM u WHERE u.n > t.id) AS s FROM t;
-- view: an_outer_value
SELECT z.id, (SELECT concat(z.k, '|', count(*)) FROM u WHERE u.n > z.id) AS m FROM (SELECT id, CASE WHEN id % 2 = 0 THEN 'even' ELSE c END AS k FROM t) z;
-- view: windows
SELECT id, row_number() OVER (PARTITION BY coalesce(c, 'none') ORDER BY id) AS r, count(*) OVER (PARTITION BY coalesce(c, 'none')) AS n, concat(lag(c, 1, 'top') OVER (ORDER BY id), '|') AS l FROM t;
-- view: distinct_on_it
SELECT DISTINCT ON (coalesce(c, 'none')) id FROM t ORDER BY coalesce(c, 'none'), id;
-- view: first_by_it
SELECT id FROM t ORDER BY coalesce(c, 'none'), id LIMIT 3;
-- view: aggregated
SELECT min(coalesce(c, 'none')) AS a, max(coalesce(c, 'none')) AS b, count(DISTINCT coalesce(c, 'none')) AS n, string_agg(DISTINCT coalesce(c, 'none'), ',') AS s, array_agg(DISTINCT coalesce(c, 'none')) AS g FROM t;
-- view: operators
SELECT id, b = coalesce(c, 'none') AS e, v = coalesce(c, 'none') AS f, x = coalesce(c, 'none') AS g, coalesce(c, d) = d AS h, nullif(coalesce(c, 'none'), 'none') AS i, coalesce(c, 'none') IS DISTINCT FROM 'none' AS j, coalesce(c, 'none') BETWEEN 'a' AND 'o' AS k FROM t;
-- view: beside_other_types
SELECT id, coalesce(c, v) AS a, concat(coalesce(c, v), '|') AS b, coalesce(c, x) || '|' AS d, coalesce(v, c) || '|' AS e, coalesce(x, c) || '|' AS f, concat(coalesce(c, b), '|') AS g FROM t WHERE id < 6;
-- view: casts_to_bpchar
SELECT id, x::bpchar AS a, concat(x::bpchar, '|') AS b, x::bpchar = 'ab' AS c, 'ab '::bpchar = x AS d, x::bpchar || '|' AS e, length(x::bpchar) AS f, octet_length(x::bpchar) AS g, c::bpchar LIKE '% ' AS h FROM t;
-- view: casts_grouped
SELECT k, count(*) AS n FROM (SELECT x::bpchar AS k FROM t) z GROUP BY k;
-- view: elements
SELECT ARRAY[c, 'none'] AS a, 'none' = ANY (ARRAY[c, 'x']) AS b, id, (ARRAY[c, 'none'])[2] || '|' AS d FROM t;
-- view: rolled_up
SELECT city, grouping(city) AS g, count(*) AS n FROM (SELECT coalesce(c, 'none') AS city FROM t) z GROUP BY ROLLUP (city);
-- view: case_of_it
SELECT CASE coalesce(c, 'none') WHEN 'none' THEN 'n' WHEN 'ab' THEN 'a' ELSE c END AS k, count(*) AS n FROM t GROUP BY 1;
-- view: recursion
WITH RECURSIVE r(k, n) AS (SELECT coalesce(c, 'none'), 1 FROM t UNION ALL SELECT k, n + 1 FROM r WHERE n < 3) SELECT concat(k, '|') AS k, n, count(*) AS m FROM r GROUP BY 1, 2;
-- view: full_join
SELECT coalesce(t.c, u.c, 'none') AS k, t.id, u.n FROM t FULL JOIN u ON u.c = t.c;
-- view: full_join_using
SELECT c, id, n FROM t FULL JOIN (SELECT c, n FROM u) u USING (c);
-- view: values_of_it
SELECT k, n FROM (SELECT k, count(*) AS n FROM (VALUES ('ab'::char(5)), ('none'), (NULL)) v(k) GROUP BY k) z WHERE k LIKE 'n%e' OR k IS NULL;
-- view: functions_that_see_blanks
SELECT id, jsonb_build_object('k', coalesce(c, 'none'), 'x', greatest(c, 'abc')) AS j, json_build_array(coalesce(c, 'none')) AS a, to_jsonb(coalesce(c, 'no')) AS t, regexp_replace(coalesce(c, 'none'), 'e$', 'E') AS r, substring(coalesce(c, 'none') from 2 for 9) || '|' AS s, left(coalesce(c, 'none'), -1) AS l, replace(coalesce(c, 'none'), ' ', '_') AS p FROM t;
-- view: collected
SELECT coalesce(c, 'none') AS k, jsonb_agg(coalesce(c, 'none') ORDER BY id) AS j, jsonb_object_agg(id, coalesce(c, 'none')) AS o, string_agg(coalesce(c, 'none'), '/' ORDER BY id) AS s, array_agg(coalesce(c, 'none') ORDER BY id) AS a FROM t GROUP BY 1;
-- view: formats
SELECT id, format('%s|%L|', coalesce(c, 'none'), c) AS f, format('%L', id > 2) AS g, bit_length(c) AS b, quote_literal(c) AS q FROM t;
-- view: recursion_of_distinct_rows
WITH RECURSIVE r(k, n) AS (SELECT coalesce(c, 'none'), 1 FROM t UNION SELECT k, n + 1 FROM r WHERE n < 3) SELECT k, n FROM r;
-- view: on_base_k
SELECT b.id, u.n, b.k LIKE 'n%e' AS l, concat(b.k, '|') AS s FROM (SELECT id, coalesce(c, 'none') AS k FROM t) b LEFT JOIN u ON u.c = b.k;
-- view: any_of_arrays
SELECT id, coalesce(c, 'none') = ANY ('{none,"ab "}') AS a, coalesce(c, 'none') <> ALL ('{none,x}') AS b, coalesce(c, 'none') = ANY (string_to_array('none,ab', ',')::bpchar[]) AS d FROM t;
-- view: arrays_compared
SELECT id, ARRAY[c, 'none'] @> ARRAY[d, 'ab'] AS a, ARRAY[c, 'x'] && ARRAY[d, 'none'] AS b, ARRAY[c, 'none'] = ARRAY[d, 'none'] AS e, ARRAY['ab', c] <@ ARRAY['ab ', d, c] AS f,
  array_position(ARRAY['none', c], d) AS p, array_positions(ARRAY[c, 'none', d], 'none') AS q, array_to_string(array_append(ARRAY[c, 'none'], 'y'), ',', '*') AS s FROM t;
-- view: arrays_of_theirs_met
SELECT t.id, u.id AS uid FROM t JOIN u ON ARRAY[t.c, 'none'] && ARRAY[u.c, 'zz'];
-- view: arrays_of_theirs_counted
SELECT ARRAY[d, 'none'] = '{x,none}'::bpchar[] AS k, count(*) AS n, count(DISTINCT coalesce(d, 'none')) AS m FROM t GROUP BY 1;
