-- view: buckets
SELECT g.x, count(t.id) AS n FROM generate_series(0::numeric, 50, 12.5) g(x) LEFT JOIN t ON t.a >= g.x AND t.a < g.x + 12.5 GROUP BY g.x;
-- view: quarters
SELECT id, x FROM t, generate_series(0, 1, 0.25) x;
-- view: between_columns
SELECT id, x, x::text AS w FROM t, LATERAL generate_series(b, a, 7.5) AS g(x);
-- view: downwards
SELECT id, x FROM t, LATERAL generate_series(a, b, -3.3) AS g(x);
-- view: in_the_list
SELECT id, generate_series(1, n, 0.5) AS x FROM t;
-- view: booleans_in_json
SELECT n, json_agg(DISTINCT ok ORDER BY ok) AS v, to_jsonb(array_agg(ok ORDER BY id)) AS w, to_json(array[ok, NULL]) AS z FROM t GROUP BY n, ok;
-- view: every_character
SELECT id, (SELECT string_agg(ch, '' ORDER BY o DESC) FROM regexp_split_to_table(s, '') WITH ORDINALITY r(ch, o)) AS rev, regexp_split_to_array(s, '') AS arr FROM t;
-- view: steps_of_one
SELECT id, x FROM t, LATERAL generate_series(b, a) AS g(x) WHERE n > 2;
-- view: between_two
SELECT id, x FROM t, LATERAL generate_series(n, 3, 0.5) AS g(x) WHERE x > n ORDER BY id, x;
-- view: beside_another_list
SELECT id, generate_series(1, 2, 0.5) AS x, unnest(ARRAY['p', 'q']) AS y, (regexp_matches(s, '(a)(b)'))[2] AS z, regexp_matches(s, '([a-c])', 'g') AS m FROM t;
-- view: two_series
SELECT id, generate_series(a, a + 1, 0.3) AS x, generate_series(n, n + 1) AS y FROM t;
