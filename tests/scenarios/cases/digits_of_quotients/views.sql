-- view: by_numbers
SELECT id, (a / b)::text AS x1, (a / c)::text AS x2, (b / c)::text AS x3, (c / b)::text AS x4, (100.0 * c / f)::text AS x5, (d / h)::text AS x6 FROM n;

-- view: of_small_and_large
SELECT id, (a / d)::text AS x1, (h / d)::text AS x2, (1.0 / c)::text AS x3, (d / 3.0)::text AS x4, (f / 7.00)::text AS x5, (a * b / f)::text AS x6 FROM n;

-- view: of_nine_digits
SELECT id, (e / f)::text AS x1, (b / e)::text AS x2, (e / h)::text AS x3, (f / e)::text AS x4 FROM n;

-- view: of_averages
SELECT g, avg(a)::text AS x1, 'avg ' || avg(b) AS x2, concat(avg(c), '|', avg(DISTINCT f)) AS x3, avg(d)::text AS x4, json_build_object('m', avg(b), 'n', avg(f))::text AS j,
  jsonb_build_object('m', avg(a))::text AS k, coalesce(avg(b) FILTER (WHERE id > 1000), 0)::text AS x5, avg(h)::text AS x6, avg(e)::text AS x7, (sum(b) / count(*))::text AS x8 FROM n GROUP BY g;

-- view: of_averages_over
SELECT id, avg(b) OVER (PARTITION BY g ORDER BY id)::text AS x1, format('%s', avg(f) OVER (PARTITION BY g)) AS x2 FROM n;

-- view: as_keys
SELECT g, string_agg(m, ',' ORDER BY m) AS s FROM (SELECT g, f, avg(b)::text AS m FROM n GROUP BY g, f HAVING avg(b)::text > '1') x GROUP BY g;

-- view: of_branches
SELECT g, coalesce(avg(b), 0)::text AS x1, CASE WHEN g > 5 THEN avg(f) END::text AS x2, (avg(f) || '%')::varchar(6) AS x3,
  (SELECT 'most ' || avg(m.f) FROM n m WHERE m.g = n.g AND m.id > 1500) AS x4 FROM n GROUP BY g;

-- view: of_rollup
SELECT g, f % 3 AS r, avg(b)::text AS x FROM n GROUP BY ROLLUP (g, f % 3);
