-- view: nullif_of_kinds
SELECT id, nullif(r, 0.1) AS a, nullif(0.1, r) AS b, nullif(r, n) AS c, nullif(n, r) AS d, nullif(day, at) AS e, nullif(at, day) AS f, nullif(id, 1.5) AS g, nullif(n2, id) AS h, nullif(d, r) AS i FROM a;
-- view: numerics_as_reals
SELECT id, n8::real AS a, n::real AS b, (n8::real)::text AS t, coalesce(n, r)::text AS c, (n2 / 3)::real::text AS u FROM a;
-- view: reals_met
SELECT x.id, y.id AS other FROM a x JOIN a y ON y.r = (x.id / 10.0)::real AND y.id = x.id;
-- view: quotients_as_doubles
SELECT id, (id / 7.0)::float8::text AS a, (100.0 * n2 / 7)::float8::text AS b, d = id / 7.0 AS c FROM a WHERE d = id / 7.0;
-- view: real_and_numeric_together
SELECT v, count(*) AS n FROM (SELECT r AS v FROM a UNION SELECT n8 FROM a UNION SELECT n FROM a) x GROUP BY v;
-- view: calls_that_are_casts
SELECT date(at) AS d, count(*) AS n, max(text(id)) AS t, min(int8(id)) AS i, sum(float8(n2)) AS f FROM a GROUP BY date(at);
-- view: digits_of_json
SELECT id, j ->> 'n' AS n, j ->> 'm' AS m, (j -> 'x')::text AS x, j ->> 's' AS s, j #>> '{x,0}' AS e FROM a WHERE id <= 100;
-- view: found_by_exponent
SELECT id FROM a WHERE j ->> 'n' IN ('1e3', '7e3');
