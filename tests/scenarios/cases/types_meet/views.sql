-- view: bindings_of_two_scales
SELECT i.id, (SELECT count(*) FROM (SELECT m FROM nums x WHERE x.m = i.n UNION ALL SELECT m FROM nums y WHERE y.m <= i.n) z) AS c FROM nums i;
-- view: bindings_of_two_widths
SELECT i.id, (SELECT count(*) FROM (SELECT s FROM nums x WHERE x.s = i.i UNION ALL SELECT id FROM nums y WHERE y.id <= i.l) z) AS c,
  (SELECT sum(z.q) FROM (SELECT l AS q FROM nums WHERE l = i.s UNION SELECT i FROM nums WHERE nums.i = i.s) z) AS u FROM nums i;
-- view: bindings_in_except
SELECT i.id, (SELECT count(*) FROM (SELECT 1 FROM nums x WHERE x.s = i.l EXCEPT ALL SELECT 1 FROM nums y WHERE y.i = i.l AND y.id < 20) z) AS c FROM nums i;
-- view: bindings_in_a_lateral_intersect
SELECT i.id, z.k FROM nums i LEFT JOIN LATERAL (SELECT x.s AS k FROM nums x WHERE x.s = i.i INTERSECT SELECT y.s FROM nums y WHERE y.l = i.i) z ON true;
-- view: binding_shown_as_it_is_outside
SELECT i.id, (SELECT max(i.n::text || '/' || x.m::text) FROM nums x WHERE x.m = i.n) AS t FROM nums i;
-- view: char_meets_varchar
SELECT c.id, n.id AS n FROM codes c FULL JOIN names n ON c.c = n.v;
-- view: char_meets_text
SELECT c.id, n.id AS n FROM codes c JOIN names n ON c.c = n.t;
-- view: varchar_not_in_char
SELECT id, v FROM names WHERE v NOT IN (SELECT c FROM codes WHERE c IS NOT NULL) OR v = 'x';
-- view: char_of_varchar_exists
SELECT c.id, (SELECT count(*) FROM names n WHERE n.v = c.c) AS n, c.c > ALL (SELECT v FROM names WHERE v <> 'y') AS top FROM codes c;
-- view: level_of_an_aggregate
SELECT (SELECT max((SELECT x.i FROM nums x WHERE x.id = o.id))) AS m, count(*) AS n FROM nums o;
-- view: groups_of_nothing
SELECT sum(s) AS s, count(*) AS n FROM nums GROUP BY ();
-- view: a_key_twice_in_a_set
SELECT s, kind, count(*) AS n FROM nums JOIN codes USING (id) GROUP BY ROLLUP ((s, kind), (kind, s));
-- view: nested_sets
SELECT s, sum(id) AS l, grouping(s) AS g FROM nums GROUP BY GROUPING SETS (((s, i)), ((s)), ());
-- view: some_of_an_array
SELECT id FROM nums WHERE s = SOME (ARRAY[1, 3, NULL]) AND i <> SOME (ARRAY[3, 5]);
-- view: order_within_sums
SELECT kind, min(id ORDER BY v) AS a, sum(id ORDER BY t) AS b, count(v ORDER BY id) AS c, bool_or(v = 'x' ORDER BY id) AS d FROM names GROUP BY kind;
-- view: literal_over_two_lines
SELECT id, 'one'
  ' two' AS t FROM codes;
-- view: alternatives_within_groups
SELECT id, (regexp_match(t, '(a|x)(b|c|$)'))[1] AS a, (regexp_match('id=' || t, '(^|&)id=([^&]*)'))[2] AS b FROM names;
-- view: frames_at_the_ends_of_types
SELECT id, count(*) OVER (ORDER BY s RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS a, sum(id) OVER (PARTITION BY id % 2 ORDER BY i DESC RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS b, count(*) OVER (ORDER BY l RANGE BETWEEN CURRENT ROW AND 5 FOLLOWING) AS c FROM nums;
-- view: floats_in_jsonb
SELECT id, to_jsonb(n::float8) AS a, to_jsonb((i * 1000 + 567)::real) AS b, jsonb_build_object('x', (-n)::float8 * 0) AS c FROM nums WHERE id < 80;
-- view: groups_of_floats_in_jsonb
SELECT to_jsonb((id % 2 - 1)::float8 * 0) AS z, count(*) AS n FROM nums GROUP BY 1;
-- view: reversed_accents
SELECT id, reverse(t || 'e' || chr(776) || 'x') AS r, reverse(v) AS v, reverse('') AS e FROM names;
