-- view: a_limit_orders_by_constants_too
SELECT q.k, q.n, q.c FROM (SELECT d AS k, count(*) AS n, 'ab' AS c FROM (SELECT timestamp '2025-03-06 05:30' + interval '1 day 2 hours' AS d FROM a) s GROUP BY d) q LIMIT 3;
-- view: a_limit_by_a_constant
SELECT q.t, q.c FROM (SELECT t, 'ab' AS c, 7 AS n FROM a WHERE t IS NOT NULL) q ORDER BY q.c, q.n, q.t DESC LIMIT 2;
-- view: ties_by_a_constant
SELECT q.t, q.c FROM (SELECT t, 'ab' AS c FROM a) q ORDER BY q.c FETCH FIRST 1 ROW WITH TIES;
-- view: lists_by_a_constant
SELECT g, string_agg(t, ',' ORDER BY c, id) AS s, array_agg(t ORDER BY n, id) AS l, array_agg(c ORDER BY c) AS cs, array_agg(DISTINCT c) AS one FROM (SELECT id, g, t, 'ab' AS c, 7 AS n FROM a) q GROUP BY g;
-- view: middles_of_a_constant
SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY c) AS p, percentile_cont(0.5) WITHIN GROUP (ORDER BY n DESC) AS m, mode() WITHIN GROUP (ORDER BY c) AS o, mode() WITHIN GROUP (ORDER BY w) AS ow, mode() WITHIN GROUP (ORDER BY w) FILTER (WHERE t > 'x') AS f FROM (SELECT g, t, 'ab' AS c, 7 AS n, timestamp '2025-01-01 10:00' AS w FROM a) q GROUP BY g;
-- view: a_window_by_a_constant
SELECT id, row_number() OVER (PARTITION BY g ORDER BY c, id) AS n, rank() OVER (PARTITION BY g ORDER BY c) AS r, sum(id) OVER (PARTITION BY g ORDER BY c) AS s FROM (SELECT id, g, 'ab' AS c FROM a) q;
-- view: reals_have_the_digits_shown
SELECT id, r, r::text AS t, rs, d, d::text AS dt FROM a;
-- view: greatest_reals
SELECT g, max(r) AS r, min(r)::text AS t, count(*) AS n FROM a GROUP BY g;
