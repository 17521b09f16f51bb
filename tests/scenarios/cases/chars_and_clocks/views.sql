-- view: no_limit
SELECT id, b, length(b) AS l, b || '|' AS s FROM codes;
-- view: groups_without_limit
SELECT b, count(*) AS n, min(id) AS first FROM codes GROUP BY b;
-- view: casts_without_limit
SELECT id, t::bpchar AS t, c::bpchar || '|' AS c, t::char(3) AS three, c::char(2) AS two, t::character AS one FROM codes;
-- view: groups_of_casts
SELECT t::bpchar AS t, count(*) AS n FROM codes GROUP BY 1;
-- view: compared_with_casts
SELECT id, c = 'ab '::bpchar AS a, c IN ('ab '::bpchar, 'q') AS b, c = t::bpchar AS d, v = c AS e, c IN (SELECT 'ab  '::bpchar) AS f FROM codes;
-- view: joined_by_casts
SELECT a.id, b.id AS other FROM codes a JOIN codes b ON a.c = b.t::bpchar;
-- view: any_of_a_literal
SELECT id, c = ANY ('{"ab ",q}') AS a, c = ANY ('{"ab   "}'::char(5)[]) AS b, c = ANY (string_to_array('ab ,x', ',')::char(5)[]) AS d, c <> ALL ('{"ab ",x}') AS e FROM codes;
-- view: elements
SELECT id, ca[1] || '|' AS one, 'x' = ANY (ca) AS a, 'x '::char(2) = ANY (ca) AS b, ca @> '{"ab "}' AS d, array_position(ca, 'x') AS p, c = ANY (ca) AS e, v = ANY (ca) AS f, t = ANY (ca) AS g FROM codes;
-- view: elements_shown
SELECT id, ca, ca::text AS t, array_to_string(ca, ',', '?') AS s, cardinality(ca) AS n, ta::char(3)[] AS cut, ta::varchar(2)[]::text AS two FROM codes;
-- view: elements_unnested
SELECT x, x || '|' AS shown, count(*) AS n FROM codes, unnest(ca) AS x GROUP BY x;
-- view: elements_joined
SELECT w.q, k.id FROM codes k JOIN unnest('{"ab ",x}'::bpchar[]) WITH ORDINALITY AS w (c, q) ON w.c = k.c;
-- view: elements_collected
SELECT code, array_agg(c ORDER BY codes.id) AS cs, array_to_string(array_agg(c ORDER BY codes.id), '-') AS s FROM codes JOIN seen ON seen.id = codes.id GROUP BY code;
-- view: elements_in_json
SELECT jsonb_agg(c ORDER BY id) AS j, json_agg(c ORDER BY id) FILTER (WHERE id > 1) AS k, array_agg(ca[1] ORDER BY id) AS a FROM codes;
-- view: element_of_nothing
SELECT id, ta[NULL] AS a, ta[NULL::int] AS b FROM codes;
-- view: keys_of_a_literal
SELECT id, doc ?| '{a,z}' AS a, doc ?& '{k,z}' AS b, doc ?| ARRAY['k'] AS c FROM codes;
-- view: clocks_that_repeat
SELECT id, date_trunc('hour', z, 'Europe/Oslo') AS h, date_trunc('minute', z, 'Europe/Oslo') AS m, date_trunc('second', z, 'Europe/Oslo') AS s, date_trunc('milliseconds', z, 'America/New_York') AS ms, date_trunc('microseconds', z, 'Europe/Oslo') AS us FROM seen;
-- view: units_in_the_plural
SELECT id, date_trunc('hours', z, 'Europe/Oslo') AS h, date_trunc('days', z) AS d, date_trunc('minutes', i) AS m FROM seen;
-- view: hours_that_repeat
SELECT date_trunc('hour', z, 'Europe/Oslo') AS h, count(*) AS n FROM seen GROUP BY 1;
-- view: hours_apart
SELECT date_trunc('hour', z, 'Asia/Kathmandu') AS k, date_trunc('day', z, 'Europe/Oslo') AS d, date_trunc('week', z, 'Europe/Oslo') AS w, count(*) AS n FROM seen GROUP BY 1, 2, 3;
