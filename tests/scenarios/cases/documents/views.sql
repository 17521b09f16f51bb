-- view: value_by_name
SELECT d.id, e.value, o.n FROM doc d, jsonb_array_elements(CASE WHEN jsonb_typeof(d.body) = 'array' THEN d.body END) WITH ORDINALITY AS e(value, n) JOIN (VALUES (1::bigint), (2)) o(n) USING (n);
-- view: value_by_alias
SELECT d.id, e ->> 'k' AS k, e.value AS whole, e IS NULL AS gone FROM doc d, jsonb_array_elements(CASE WHEN jsonb_typeof(d.body) = 'array' THEN d.body END) e;
-- view: every_column_of_a_function
SELECT * FROM generate_series(1, 3) g, jsonb_array_elements_text('["a", "b"]') t;
-- view: contained_in_arrays
SELECT id, body @> '[{"k": "wifi"}]' AS w, body @> '{"a": [{"b": [1]}]}' AS b, body @> '[[1]]' AS l FROM doc;
-- view: containing_counted
SELECT kind, count(*) FILTER (WHERE body @> '[{"k": "tv"}]') AS tv, bool_or(body @> '[{"n": 7}]') AS seven FROM doc GROUP BY kind;
-- view: not_contained
SELECT id FROM doc WHERE NOT body @> '[{"k": "wifi"}]' OR kind = 'y' AND body @> '{"a": [{"b": [2]}]}';
-- view: text_of_the_whole
SELECT id, body #>> '{}' AS t, body #> '{}' AS j, body -> 0 ->> 'k' AS k FROM doc;
-- view: aggregated_and_taken_apart
SELECT kind, jsonb_agg(id ORDER BY id) -> 0 AS first, jsonb_agg(body -> 'a' ORDER BY id) AS parts FROM doc GROUP BY kind;
-- view: elements_of_built
SELECT d.id, t.value FROM doc d, jsonb_array_elements(jsonb_build_array(d.id, d.kind)) t(value);
-- view: json_keys
SELECT d.id, k FROM doc d, json_object_keys(d.raw) k;
-- view: json_members
SELECT d.id, m.key, m.value FROM doc d, json_each_text(d.raw) m;
-- view: rows_as_json
SELECT id, row_to_json(row(id, kind)) AS r, to_jsonb(l.*) AS l FROM doc JOIN link l ON l.src = doc.id;
-- view: exists_union
SELECT id FROM doc WHERE EXISTS ((SELECT 1 FROM link WHERE src = doc.id) UNION ALL (SELECT 2 FROM link WHERE dst = doc.id AND weight > 3));
-- view: exists_values
SELECT id FROM doc WHERE EXISTS (VALUES (1, 2)) AND NOT EXISTS (TABLE link);
-- view: distances
SELECT id, @ (score - 4) AS far, "Mixed Case" + 1 AS m, "a,b;c" AS n FROM doc;
-- view: names_grouped
SELECT "a,b;c", max("Mixed Case") AS "Most, of all" FROM doc GROUP BY "a,b;c";
-- view: floats_of_text
SELECT id FROM doc WHERE score = ANY (ARRAY['0.25', 'NaN', '1.5']::float8[]) OR score > 1e300;
-- view: middle_intervals
SELECT kind, percentile_disc(0.5) WITHIN GROUP (ORDER BY took) AS d, percentile_cont(0.25) WITHIN GROUP (ORDER BY took DESC) AS c, percentile_disc(0) WITHIN GROUP (ORDER BY took) AS z FROM doc GROUP BY kind;
-- view: intervals_grouped
SELECT took, count(*) AS n, rank() OVER (ORDER BY took) AS r FROM doc GROUP BY took;
-- view: intervals_apart
SELECT d.took, count(DISTINCT l.took) AS n FROM doc d JOIN doc l ON l.took = d.took AND l.id <> d.id GROUP BY d.took;
-- view: clocks
SELECT id, at + hour AS a, seen + hour AS s, at - hour AS b, hour + at AS h, day + hour AS d FROM doc;
-- view: matches
SELECT d.id, m FROM doc d, regexp_matches(d.words, 'a+', 'g') m;
-- view: matches_in_pairs
SELECT id, regexp_matches(words, '(a)(b)', 'g') AS m FROM doc;
-- view: first_match
SELECT id, (regexp_matches(words, '(c)(a)'))[2] AS m FROM doc;
-- view: padded_lists
SELECT kind, array_agg(tier ORDER BY id) AS tiers FROM doc GROUP BY kind;
-- view: groups_frame
SELECT id, sum("Mixed Case") OVER (PARTITION BY kind ORDER BY tier GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) AS s,
  count(*) FILTER (WHERE score > 2) OVER (PARTITION BY kind ORDER BY id) AS n, array_agg(id) FILTER (WHERE id % 2 = 0) OVER (PARTITION BY kind ORDER BY id) AS l FROM doc;
-- view: range_frames
SELECT id, count(*) OVER (ORDER BY at RANGE BETWEEN interval '1 month' PRECEDING AND interval '1 day' FOLLOWING) AS m,
  sum(id) OVER (PARTITION BY kind ORDER BY day RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS d,
  max(score) OVER (ORDER BY seen DESC RANGE interval '3 hours' PRECEDING) AS h FROM doc;
-- view: far_rows
SELECT id, lag(kind, "Mixed Case") OVER (ORDER BY id) AS back, nth_value(id, 2) OVER (PARTITION BY kind ORDER BY id GROUPS 2 PRECEDING) AS second FROM doc;
-- view: reached
WITH RECURSIVE r AS (SELECT src, dst FROM link UNION SELECT r.src, l.dst FROM r JOIN link l ON l.src = r.dst) SELECT src, dst FROM r;
-- view: not_reached
WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT l.dst FROM r JOIN link l ON l.src = r.n WHERE l.weight > 0) SELECT id FROM doc WHERE id NOT IN (SELECT n FROM r WHERE n IS NOT NULL);
-- view: paths
WITH RECURSIVE r AS (SELECT src, dst, ARRAY[src, dst] AS path FROM link WHERE src = 1 UNION ALL SELECT r.src, l.dst, r.path || l.dst FROM r JOIN link l ON l.src = r.dst WHERE l.dst <> ALL (r.path) AND cardinality(r.path) < 5)
SELECT dst, count(*) AS ways, min(cardinality(path)) AS steps FROM r GROUP BY dst;
-- view: intervals_in_order
SELECT kind, array_agg(took ORDER BY took) AS l, array_agg(took ORDER BY took DESC, id) AS d FROM doc GROUP BY kind;
-- view: floats_in_lists
SELECT kind, jsonb_agg(score ORDER BY id) AS l FROM doc GROUP BY kind;
-- view: lists_or_text
SELECT kind, CASE WHEN kind = 'x' THEN jsonb_agg(id ORDER BY id) ELSE '["q"]' END AS l, coalesce(jsonb_agg(id ORDER BY id) FILTER (WHERE id > 30), '{}') AS c FROM doc GROUP BY kind;
-- view: objects_of_an_outer_join
SELECT doc.id, row_to_json(o.*) ->> 'id' AS o, count(o) AS n, json_agg(o ORDER BY o.id) ->> 0 IS NULL AS l FROM doc LEFT JOIN doc o ON o.id = doc.id + 1 AND o.kind = 'x' GROUP BY doc.id, o.id;
-- view: digits_kept
SELECT id, to_jsonb(id + 12345678901234567890.5) #>> '{}' AS t, jsonb_build_array(id, 1234567890.125) @> '[1234567890.125]' AS c FROM doc;
-- view: narrow_ranges
SELECT id, count(*) OVER (ORDER BY round(score::numeric, 2) RANGE BETWEEN 0.005 PRECEDING AND CURRENT ROW) AS n, count(*) OVER (ORDER BY id RANGE 3 PRECEDING) AS i,
  regr_count(id, score) OVER (ORDER BY id GROUPS BETWEEN 3 FOLLOWING AND 5 FOLLOWING) AS r FROM doc WHERE score <> 'NaN';
-- view: separators_that_vary
SELECT kind, string_agg(words, '<' || "Mixed Case" || '>' ORDER BY id) AS a, string_agg(tier, kind ORDER BY id DESC) FILTER (WHERE id > 5) AS b FROM doc GROUP BY kind;
-- view: like_a_column
SELECT d.id, e.id AS of FROM doc d JOIN doc e ON d.words LIKE '%' || replace(e.words, 'c', '\c') || '%' AND e.id < 4;
-- view: a_total_that_having_drops
SELECT id, (SELECT max(dst) FROM link WHERE note = 'chain' HAVING count(*) > 0) AS m, (SELECT count(*) FROM link WHERE weight > 8 HAVING max(weight) > 8) AS n FROM doc;
-- view: compared_with_a_total_that_having_drops
SELECT id FROM doc WHERE id < ANY (SELECT src FROM link) OR id = (SELECT max(dst) FROM link WHERE note = 'chain' HAVING count(*) > 0);
-- view: total_of_having_in_having
SELECT kind, count(*) AS n FROM doc GROUP BY kind HAVING count(*) > 3 OR sum(id) > (SELECT sum(weight) FROM link HAVING count(*) < 40);
-- view: like_any_of_an_array
SELECT id, words LIKE ANY (l.p) AS a, words NOT LIKE ALL (l.p) AS n, words ILIKE ALL (l.p) AS i FROM doc JOIN (SELECT kind, array_agg('%' || tier || '%' ORDER BY id) FILTER (WHERE id % 3 = 0) AS p FROM doc GROUP BY kind) l USING (kind);
-- view: like_any_kept
SELECT id FROM doc WHERE words LIKE ANY (string_to_array('ab%,%aaa,' || kind, ',')) OR kind NOT LIKE ANY (ARRAY[tier, NULL, 'x%']);
-- view: rows_of_a_subquery_counted
SELECT d.kind, count(x.*) AS n, count(x) AS again FROM doc d LEFT JOIN (SELECT dst, note FROM link WHERE weight > 1) x ON x.dst = d.id GROUP BY d.kind;
-- view: rows_of_a_keyless_table_counted
SELECT l.src, count(m.*) AS n, count(DISTINCT m.note) AS notes FROM link l LEFT JOIN link m ON m.src = l.dst GROUP BY l.src;
-- view: row_of_a_subquery_that_is_not_found
SELECT d.id, to_jsonb(x) AS x, row_to_json(x.*)::text IS NULL AS none FROM doc d FULL JOIN (SELECT DISTINCT src, note FROM link) x ON x.src = d.id;
-- view: star_of_an_enclosing_row
SELECT d.id, (SELECT to_jsonb(z) FROM (SELECT d.kind, d.tier, l.* FROM link l WHERE l.src = d.id ORDER BY l.weight, l.dst, l.note LIMIT 1) z) AS j FROM doc d;
-- view: row_with_its_lines
SELECT row_to_json(x) AS j FROM (SELECT k.*, (SELECT jsonb_agg(l.* ORDER BY l.src, l.dst, l.weight, l.note) FROM link l WHERE l.src = k.dst) AS lines, EXISTS (SELECT k.* FROM doc d WHERE d.id = k.dst) AS known FROM (SELECT DISTINCT dst, note FROM link) k) x;
-- view: enclosing_row_as_json
SELECT k.dst, (SELECT jsonb_build_object('of', count(*), 'row', to_jsonb(k)) FROM doc d WHERE d.id < k.dst) AS j FROM (SELECT DISTINCT dst, note FROM link) k;
-- view: rows_in_built_objects
SELECT l.src, jsonb_build_array(l.src, k) AS a, jsonb_build_object('k', k, 'n', l.note) AS o FROM link l LEFT JOIN (SELECT id, kind FROM doc WHERE id % 2 = 0) k ON k.id = l.dst;
-- view: rows_in_object_agg
SELECT kind, jsonb_object_agg(id::text, k) AS j FROM (SELECT id, kind, tier FROM doc) k GROUP BY kind;
-- view: same_alias_within_and_without
SELECT x.id, j.w FROM doc x JOIN (link x CROSS JOIN (SELECT max(weight) AS w FROM link) y) j(s, d, w0, n, w) ON j.d = x.id;
-- view: using_with_an_alias
SELECT x.*, l.note, m.note AS other FROM link l JOIN link m USING (dst) AS x WHERE x.dst > 2;
-- view: limit_of_an_ordered_subquery
SELECT x.id, x.kind FROM (SELECT id, kind, tier FROM doc ORDER BY day DESC NULLS LAST, id) x WHERE tier IS NOT NULL LIMIT 4;
-- view: lists_of_an_ordered_subquery
WITH x AS (SELECT * FROM doc ORDER BY score DESC NULLS LAST, id) SELECT kind, array_agg(id) AS ids, string_agg(tier, '/') AS tiers, jsonb_agg(words) AS words FROM x GROUP BY kind;
-- view: list_of_a_top_k
SELECT array_agg(id) AS ids, string_agg(kind, ',') AS kinds FROM (SELECT id, kind FROM doc ORDER BY at DESC NULLS LAST, id LIMIT 5) x;
-- view: numbers_of_an_ordered_subquery
SELECT row_number() OVER () AS n, lag(id) OVER () AS before, x.* FROM (SELECT id, tier FROM doc ORDER BY score, id) x;
-- view: list_of_an_ordered_union
SELECT array_agg(v) AS vs FROM (SELECT id AS v FROM doc UNION SELECT src FROM link ORDER BY v DESC) u;
-- view: order_through_two_subqueries
SELECT y.id FROM (SELECT id, tier FROM (SELECT * FROM doc ORDER BY hour DESC NULLS LAST, id) z WHERE kind IS NOT NULL) y LIMIT 3;
-- view: nested_joins_of_a_subquery
SELECT d.id, l.src FROM doc d LEFT JOIN (SELECT src, dst FROM link) l JOIN doc e ON e.id = l.dst ON l.src = d.id AND e.kind IS NOT NULL;
-- view: on_after_a_cross_join
SELECT d.id, l.dst, k.n FROM doc d LEFT JOIN link l CROSS JOIN (SELECT max(id) AS n FROM doc) k ON l.src = d.id AND l.dst < k.n;
-- view: on_after_a_natural_join
SELECT d.id, l.dst FROM doc d FULL JOIN link l NATURAL JOIN (SELECT DISTINCT src, weight FROM link WHERE weight > 1) k ON l.src = d.id;
-- view: members_with_ordinality
SELECT d.id, z.k, z.v, z.o, y.key, y.ordinality FROM doc d, jsonb_each_text(CASE WHEN jsonb_typeof(d.body) = 'object' THEN d.body ELSE '{}' END) WITH ORDINALITY z(k, v, o) JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(d.body) = 'object' THEN d.body ELSE '{}' END) WITH ORDINALITY y ON y.key = z.k;
-- view: row_of_a_renamed_table
SELECT to_jsonb(l) AS j, count(l.*) AS n, count(m.*) AS m FROM link l(x, y, w, t) LEFT JOIN link m(x, y, w, t) ON m.x = l.y GROUP BY 1;
-- view: last_value_of_each_key
SELECT kind, jsonb_object_agg(tier, id ORDER BY id) AS o, jsonb_object_agg(tier, id ORDER BY day DESC NULLS LAST, id) AS d, jsonb_object_agg(coalesce(words, 'w'), tier ORDER BY id DESC) FILTER (WHERE id > 3) ->> 'w' AS w FROM doc WHERE tier IS NOT NULL GROUP BY kind;
-- view: objects_of_computed_keys
SELECT id, jsonb_build_object(kind, id, 'fixed', tier, coalesce(words, 'fixed'), 1) AS b, json_build_object(tier, id, 'fixed', kind)::text AS t FROM doc WHERE kind IS NOT NULL AND tier IS NOT NULL;
-- view: last_value_by_the_order_of_a_subquery
SELECT kind, jsonb_object_agg(tier, id) AS o, json_agg(id) AS ids FROM (SELECT * FROM doc WHERE tier IS NOT NULL ORDER BY day NULLS FIRST, id DESC) x GROUP BY kind;
