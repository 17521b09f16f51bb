-- view: enum_extremum_over_a_window
SELECT spec, count(*) AS n, min(spec) OVER (ORDER BY spec ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS p, row_number() OVER (ORDER BY spec) AS r FROM ward GROUP BY spec;
-- view: string_agg_without_separator
SELECT floor, string_agg(name, NULL ORDER BY id) AS n, string_agg(coalesce(name, '-'), '' ORDER BY beds DESC NULLS LAST, id) AS b FROM ward GROUP BY floor;
-- view: count_of_whole_rows
SELECT p.id, count(v.*) AS a, count(v) AS b FROM patient p LEFT JOIN visit v ON v.pid = p.id GROUP BY p.id;
-- view: whole_row_is_null
SELECT p.id FROM patient p LEFT JOIN visit v ON v.pid = p.id WHERE v IS NULL;
-- view: enums_in_any_and_greatest
SELECT id, spec, spec > 'cardio' AS g, spec IN ('trauma', 'burns') AS i, spec < ANY (SELECT x.spec FROM ward x WHERE x.floor = w.floor) AS l, rank() OVER (ORDER BY spec NULLS FIRST) AS r, greatest(spec, 'neuro') AS gr, lag(spec) OVER (ORDER BY spec DESC, id) AS lg FROM ward w;
-- view: char_meets_longer_literal
SELECT id, code, code || '|' AS a, length(code) AS b, code = 'A1' AS c, code LIKE 'A1%' AS d, code::text || '|' AS e, coalesce(code, 'none!!') || '|' AS f, concat(code, '|') AS g, upper(code) || '|' AS h, octet_length(code) AS o FROM ward;
-- view: char_in_case
SELECT r.kind, r.pid, p.sex || r.kind || '.' AS z, r.kind IN (SELECT code FROM ward) AS i, CASE WHEN r.ok THEN r.kind ELSE 'other' END || '!' AS c, nullif(r.kind, 'hr') AS n FROM reading r LEFT JOIN patient p ON p.id = r.pid;
-- view: text_of_numbers_of_two_scales
SELECT id, weight::text AS a, coalesce(weight, 0)::text AS b, (weight * 2)::text AS c, (weight + height::numeric(8,3))::text AS d, (CASE WHEN vip THEN weight ELSE 1 END)::text AS e, greatest(weight, 10)::text AS f FROM patient;
-- view: text_of_sums_that_may_be_missing
SELECT insurer, sum(weight)::text AS s, max(weight)::text AS m, (sum(weight) + 0)::text AS z, round(avg(weight), 2)::text AS a, coalesce(sum(weight) FILTER (WHERE vip), 0)::text AS c FROM patient GROUP BY insurer;
-- view: set_after_window
SELECT p.id, unnest(p.allergies) AS a, count(*) OVER (PARTITION BY p.ward_id) AS n FROM patient p;
-- view: set_after_ranking
SELECT id, unnest(allergies) AS a, row_number() OVER (ORDER BY id) AS r FROM patient;
-- view: group_by_a_set
SELECT unnest(allergies) AS a, count(*) AS n FROM patient GROUP BY 1;
-- view: json_agg_over_a_window
SELECT ward_id, json_agg(id) OVER (PARTITION BY ward_id ORDER BY id) AS j FROM doctor;
-- view: jsonb_agg_over_a_frame
SELECT id, jsonb_agg(grade) OVER (ORDER BY id ROWS 2 PRECEDING) AS j FROM doctor;
-- view: enum_maximum_over_a_partition
SELECT id, max(blood) OVER (PARTITION BY ward_id) AS m FROM patient;
-- view: columns_of_nested_using
SELECT * FROM (SELECT id, boss FROM doctor) a JOIN (SELECT id, ward_id AS w FROM patient) b USING (id) JOIN (SELECT id AS w, name FROM ward) c USING (w);
-- view: using_after_a_comma
SELECT w.id, p.id AS pid, p.name, q.n FROM ward w, patient p JOIN (SELECT pid AS id, count(*) AS n FROM visit GROUP BY pid) q USING (id) WHERE w.id = p.ward_id;
-- view: using_within_parentheses
SELECT w.id, d.id AS did, x.n FROM ward w LEFT JOIN (doctor d JOIN (SELECT did AS id, count(*) AS n FROM visit GROUP BY did) x USING (id)) ON d.ward_id = w.id;
-- view: right_join_after_a_comma
SELECT w.id, p.id AS pid, d.id AS did FROM ward w, patient p RIGHT JOIN doctor d ON d.ward_id = p.ward_id AND p.vip WHERE w.floor = 1;
-- view: columns_of_natural_joins
SELECT * FROM (SELECT id, floor FROM ward) w NATURAL JOIN (SELECT id, grade FROM doctor) d NATURAL LEFT JOIN (SELECT grade, count(*) AS n FROM doctor GROUP BY grade) g;
-- view: varchar_meets_longer_literal
SELECT id, coalesce(note, 'a much longer text') AS a, CASE WHEN pid > 5 THEN note ELSE 'otherwise something' END AS b, nullif(note, 'abc') AS c, greatest(note, 'zzzzzzzzzzzzzz') AS d FROM ledger;
-- view: union_with_a_longer_literal
SELECT code FROM ward UNION SELECT 'longer than four' UNION SELECT note FROM ledger;
-- view: lag_with_a_longer_default
SELECT id, lag(note, 1, 'nothing before it') OVER (ORDER BY id) AS l, lag(code4, 1, 'none at all') OVER (ORDER BY id) AS c FROM (SELECT l.id, l.note, w.code AS code4 FROM ledger l LEFT JOIN ward w ON w.id = l.id) x;
-- view: coalesce_of_a_maximum
SELECT pid, coalesce(max(note), 'no note at all') AS m, coalesce(min(d), '2030-01-01') AS d FROM ledger GROUP BY pid;
-- view: variance_of_wide_numbers
SELECT pid, stddev(amt) AS s, variance(amt) AS v, corr(amt, big) AS c, avg(amt) AS a, sum(amt) AS t FROM ledger GROUP BY pid;
-- view: variances_of_everything
SELECT stddev_pop(amt) AS s, regr_slope(amt, big) AS sl, var_samp(big) AS v, corr(amt, id) AS c FROM ledger;
-- view: filter_guards_a_cast
SELECT pid, sum(note::numeric) FILTER (WHERE note ~ '^[0-9.]+$') AS s FROM ledger GROUP BY pid;
-- view: real_meets_numeric
SELECT id, rate IN (SELECT grade / 10.0 FROM doctor WHERE grade IS NOT NULL) AS a, rate = 0.1 AS b, rate = 0.1::real AS c, rate > 0.3 AS d, rate IN (0.1, 0.2, 0.3) AS e, rate * 10 = 3 AS f, rate::numeric = 0.3 AS g, rate BETWEEN 0.1 AND 0.5 AS h FROM ledger;
-- view: text_of_coalesce
SELECT id, 'Total: ' || coalesce(weight, 0) AS a, concat(coalesce(weight, 0), '/', 1) AS b, to_jsonb(coalesce(weight, 0))::text AS c FROM patient;
-- view: left_join_of_a_limit
SELECT w.id, x.pid FROM ward w LEFT JOIN (SELECT * FROM visit ORDER BY cost DESC NULLS LAST, pid, seq LIMIT 15) x ON x.wid = w.id;
-- view: groups_of_a_limit
SELECT x.ward_id, count(*) AS n FROM (SELECT * FROM patient ORDER BY weight DESC NULLS LAST, id LIMIT 20 OFFSET 3) x GROUP BY x.ward_id;
-- view: limits_in_scalar_subqueries
SELECT (SELECT cost FROM visit ORDER BY cost DESC NULLS LAST LIMIT 1 OFFSET 2) AS third, (SELECT count(*) FROM (SELECT 1 FROM visit LIMIT 7) x) AS seven, (SELECT sum(cost) FROM (SELECT cost FROM visit ORDER BY cost NULLS LAST LIMIT 4) x) AS low;
-- view: set_of_an_aggregate
SELECT w.id, sum(p.id) AS s, generate_series(1, max(w.floor)) AS g FROM ward w JOIN patient p ON p.ward_id = w.id GROUP BY w.id;
-- view: unnest_of_an_aggregate
SELECT w.id, unnest(array_agg(p.id ORDER BY p.id)) AS u, w.name FROM ward w JOIN patient p ON p.ward_id = w.id GROUP BY w.id, w.name;
-- view: where_guards_a_cast
SELECT id FROM ledger WHERE note ~ '^[0-9.]+$' AND note::numeric > 3;
-- view: lateral_after_commas
SELECT w.id, x.n, y.g FROM ward w, patient p, LATERAL (SELECT count(*) AS n FROM visit v WHERE v.pid = p.id AND v.wid = w.id) x, generate_series(1, x.n) y(g) WHERE p.ward_id = w.id;
-- view: left_lateral_after_commas
SELECT w.id, p.id AS pid, x.seq, d.name FROM ward w, patient p LEFT JOIN LATERAL (SELECT seq FROM visit v WHERE v.pid = p.id AND v.wid = w.id ORDER BY seq LIMIT 1) x ON true LEFT JOIN doctor d ON d.id = p.id;
-- view: using_of_using
SELECT id, grade, insurer FROM (ward a JOIN (SELECT id, grade FROM doctor) b USING (id)) FULL JOIN (SELECT id, insurer FROM patient) c USING (id);
-- view: distinct_set
SELECT DISTINCT unnest(allergies) AS a, insurer FROM patient ORDER BY 1, 2 LIMIT 7;
-- view: set_and_ranking_limited
SELECT unnest(allergies) AS a, insurer, rank() OVER (PARTITION BY insurer ORDER BY id) AS r FROM patient ORDER BY a DESC NULLS LAST, insurer, r LIMIT 11;
-- view: float_average_over_a_partition
SELECT id, avg(height/3) OVER (PARTITION BY insurer) AS s FROM patient;
-- view: variance_over_a_partition
SELECT id, variance(id) OVER (PARTITION BY note) AS s FROM ledger;
-- view: correlation_over_a_partition
SELECT id, var_pop(weight) OVER (PARTITION BY vip) AS s, corr(weight, height) OVER (PARTITION BY vip) AS c FROM patient;
-- view: float_average_of_equal_rows
SELECT pid, kind, avg(val/7) OVER (PARTITION BY kind) AS s FROM reading;
-- view: float_average_over_all_joined
SELECT p.id, x.s FROM patient p JOIN (SELECT id, avg(height/3) OVER () AS s FROM patient) x ON x.id = p.id;
-- view: groups_by_a_float_average
SELECT s, count(*) AS n, max(id) AS m FROM (SELECT id, insurer, avg(height/3) OVER (PARTITION BY insurer) AS s FROM patient) x GROUP BY s;
-- view: sums_of_differences_from_an_average
SELECT insurer, sum(d) AS s FROM (SELECT insurer, height - avg(height) OVER () AS d FROM patient) x GROUP BY insurer;
-- view: running_float_sum
SELECT id, sum(height/3) OVER (PARTITION BY insurer ORDER BY id) AS s, array_agg(id) OVER (PARTITION BY vip ORDER BY id) AS ids FROM patient;
-- view: join_on_a_float_average
SELECT x.id, x.r, d.name FROM (SELECT id, ward_id, rank() OVER (ORDER BY height / 3 DESC NULLS LAST) AS r, avg(height / 7) OVER (PARTITION BY ward_id) AS a FROM patient) x LEFT JOIN doctor d ON d.ward_id = x.ward_id AND d.salary > x.a;
-- view: z_scores
SELECT id, (height - avg(height) OVER w) / nullif(stddev(height) OVER w, 0) AS z FROM patient WINDOW w AS (PARTITION BY insurer);
-- view: rank_by_a_float_average
SELECT ward_id, max(z) AS z FROM (SELECT p.ward_id, rank() OVER (PARTITION BY p.vip ORDER BY y.a, p.id) AS z FROM patient p JOIN (SELECT id, avg(height/3) OVER (PARTITION BY insurer) AS a FROM patient) y USING (id)) q GROUP BY ward_id;
-- view: scalar_subquery_in_a_branch_not_taken
SELECT p.id, CASE WHEN (SELECT count(*) FROM visit v WHERE v.pid=p.id AND v.urgent)=1 THEN (SELECT v.kind FROM visit v WHERE v.pid=p.id AND v.urgent) ELSE 'many or none' END AS k FROM patient p;
-- view: scalar_subqueries_by_key
SELECT p.id, coalesce((SELECT w.name FROM ward w WHERE w.id = p.ward_id), 'none') AS n, (SELECT v.cost FROM visit v WHERE v.pid = p.id AND v.seq = 1) AS c FROM patient p;
-- view: scalar_subquery_after_coalesce
SELECT p.id, coalesce(p.insurer, (SELECT v.kind FROM visit v WHERE v.pid = p.id)) AS k FROM patient p WHERE p.insurer IS NOT NULL;
-- view: scalar_subquery_in_a_condition_not_taken
SELECT p.id FROM patient p WHERE CASE WHEN (SELECT count(*) FROM visit v WHERE v.pid = p.id) = 1 THEN (SELECT v.urgent FROM visit v WHERE v.pid = p.id) ELSE true END;
-- view: ordinality_of_a_series
SELECT w.id, g.i, g.o FROM ward w, generate_series(2, w.beds) WITH ORDINALITY g(i,o);
-- view: ordinality_of_two_arrays
SELECT w.id, u.* FROM patient w, unnest(w.allergies, ARRAY['x','y']) WITH ORDINALITY AS u(a, b, o);
-- view: full_join_using_bigint
SELECT id, weight, paid FROM (SELECT id, weight FROM patient) a FULL JOIN (SELECT pid AS id, seq, paid FROM visit) b USING (id);
-- view: full_join_using_two_scales
SELECT weight, count(*) AS n FROM (SELECT weight FROM patient) a FULL JOIN (SELECT paid AS weight FROM visit) b USING (weight) GROUP BY weight;
-- view: full_join_using_char_and_text
SELECT code, count(*) AS n FROM (SELECT code FROM ward) a FULL JOIN (SELECT code FROM med) b USING (code) GROUP BY code;
-- view: equal_json_in_a_union
SELECT count(*) AS n FROM (SELECT '1'::jsonb AS j FROM ward UNION SELECT '1.0'::jsonb FROM ward) x;
-- view: numeric_meets_finer_literal
SELECT id, CASE WHEN vip THEN weight ELSE '0.125' END AS w, coalesce(weight, '1234567.891') AS v FROM patient;
-- view: recursion_with_growing_scale
WITH RECURSIVE t AS (SELECT id, budget::numeric AS b, 0 AS d FROM ward WHERE parent IS NULL UNION ALL SELECT w.id, t.b*0.333, d + 1 FROM ward w JOIN t ON t.id = w.parent WHERE d < 5) SELECT * FROM t;
-- view: recursion_of_products
WITH RECURSIVE t(n, x) AS (SELECT 1, 1.0 UNION ALL SELECT n + 1, x * 1.5 FROM t WHERE n < 12) SELECT w.id, t.x FROM ward w JOIN t ON t.n = w.id;
-- view: distinct_lists_are_sorted
SELECT kind, string_agg(DISTINCT insurer, ',') AS s, array_agg(DISTINCT did) AS d FROM visit v JOIN patient p ON p.id = v.pid GROUP BY kind;
-- view: intervals_over_windows
SELECT id, sum(shift) OVER (PARTITION BY ward_id ORDER BY id) AS s, avg(shift) OVER (PARTITION BY ward_id) AS a FROM doctor;
-- view: rows_counted_over_windows
SELECT w.id, count(p.*) OVER (PARTITION BY w.floor) AS n, json_agg(w.id) OVER (ORDER BY w.id, p.id) AS j FROM ward w LEFT JOIN patient p ON p.ward_id = w.id AND p.id < 9;
-- view: products_of_wide_sums
SELECT pid, sum(amt)*sum(amt) AS q, max(amt*amt) AS m, sum(amt * 1.123456789) AS e FROM ledger GROUP BY pid;
-- view: products_of_wide_numbers
SELECT id, amt * 123456789.123 AS a, amt * amt * 2 AS b, (amt / 7) * amt AS c, (amt + 90000000) * (amt + 90000000) AS d FROM ledger;
-- view: statistics_of_wide_numbers
SELECT stddev(amt * 1000000) AS s, variance(amt) AS v, corr(amt, big) AS c, regr_slope(amt, big) AS r FROM ledger;
-- view: and_guards_a_cast_in_filter
SELECT count(*) FILTER (WHERE note ~ '^\d+$' AND note::int > 5) AS n, bool_or(note ~ '^\d+$' AND note::int > 5) AS b FROM ledger;
-- view: filter_guards_a_cast_over_a_window
SELECT id, sum(note::int) FILTER (WHERE note ~ '^\d+$') OVER (ORDER BY id) AS a, note ~ '^\d+$' AND note::int > 5 AS c FROM ledger;
-- view: alias_of_a_join
SELECT w.id, x.name AS dn, x.n, x.id AS did FROM ward w LEFT JOIN (doctor JOIN (SELECT did AS id, count(*) AS n FROM visit GROUP BY did) z USING (id)) AS x ON x.ward_id = w.id;
-- view: partition_by_a_row
SELECT id, row_number() OVER (PARTITION BY (ward_id, vip) ORDER BY (weight, id)) AS r FROM patient;
-- view: order_by_a_row
SELECT id FROM patient ORDER BY (ward_id, id) DESC LIMIT 7;
-- view: comparison_of_wide_products
SELECT id, amt * round(amt, 2) AS a, -amt * amt AS n FROM ledger WHERE amt * amt > 4;
