-- view: shown
SELECT id, s::text AS t FROM d;
-- view: parts
SELECT id, extract(epoch FROM s)/86400 AS e FROM d WHERE s > interval '1 hour';
-- view: without_a_key
SELECT s::text AS t, n FROM b;
-- view: joined_by_another
SELECT d.id, d.s::text AS t, f.t::text AS u FROM d JOIN f ON f.g = d.g;
-- view: joined_by_it
SELECT d.id, d.s::text AS t, f.g, f.t::text AS u FROM d JOIN f ON f.t = d.s;
-- view: outer_joined_by_it
SELECT d.id, d.s::text AS t, f.g, f.t::text AS u FROM d LEFT JOIN f ON f.t = d.s;
-- view: full_joined_by_it
SELECT d.id, d.s::text AS t, f.g, f.t::text AS u FROM d FULL JOIN f ON f.t = d.s AND f.g = d.g;
-- view: exists_an_equal_one
SELECT d.id, d.s::text AS t FROM d WHERE EXISTS (SELECT 1 FROM f WHERE f.t = d.s);
-- view: in_none
SELECT d.id, d.s::text AS t FROM d WHERE d.s NOT IN (SELECT f.t FROM f);
-- view: in_some
SELECT s::text AS t, n FROM b WHERE s IN (SELECT t FROM f);
-- view: lag_of_it
SELECT id, s::text AS t, row_number() OVER (PARTITION BY g ORDER BY s, id) AS r, lag(s) OVER (PARTITION BY g ORDER BY id)::text AS l FROM d;
-- view: counted_by_it
SELECT id, s::text AS t, count(*) OVER (PARTITION BY s) AS r FROM d;
-- view: first_of_all
SELECT id, first_value(s::text) OVER (ORDER BY id) AS r FROM d;
-- view: greatest_of_each
SELECT DISTINCT ON (g) g, id, s::text AS t FROM d ORDER BY g, s DESC, id;
-- view: least_two_of_each
SELECT f.g, x.id, x.t FROM f CROSS JOIN LATERAL (SELECT id, s::text AS t FROM d WHERE d.g = f.g ORDER BY s, id LIMIT 2) x;
-- view: first_three
SELECT id, s::text AS t FROM d ORDER BY s NULLS FIRST, id LIMIT 3;
-- view: united_all
SELECT s::text AS t FROM d UNION ALL SELECT t::text FROM f;
-- view: united
SELECT s::text AS t FROM d UNION SELECT t::text FROM f;
-- view: united_with_keys
SELECT x.s::text AS t, x.id FROM (SELECT s, id FROM d UNION ALL SELECT t, g + 100 FROM f) x;
-- view: totals
SELECT g, sum(s)::text AS t, avg(s)::text AS a, count(DISTINCT s) AS n FROM d GROUP BY g;
-- view: collected
SELECT g, string_agg(s::text, ',' ORDER BY id) AS t, array_agg(s::text ORDER BY id) AS a FROM d GROUP BY g;
-- view: grouped_by_its_text
SELECT s::text AS t, count(*) AS n FROM d GROUP BY s::text;
-- view: extremes_of_its_text
SELECT g, min(s::text) AS n, max(s::text) AS m FROM d GROUP BY g;
-- view: filtered_by_its_text
SELECT g, max(id) FILTER (WHERE s::text LIKE '%year%') AS n, sum(extract(epoch FROM s)) AS e FROM d GROUP BY g;
-- view: an_element
SELECT g, (array_agg(s ORDER BY id))[1]::text AS n FROM d GROUP BY g;
-- view: met_by_its_text
SELECT d.id, (SELECT max(f.g) FROM f WHERE f.t::text = d.s::text) AS v FROM d;
-- view: counted_by_its_length
SELECT d.id, (SELECT count(*) FROM f WHERE extract(epoch FROM f.t) >= extract(epoch FROM d.s)) AS v FROM d;
-- view: text_with_a_count
SELECT d.id, (SELECT d.s::text || count(*) FROM f WHERE f.g <> d.g) AS v FROM d;
-- view: first_with_its_text
SELECT b.n, x.v FROM b, LATERAL (SELECT b.s::text || f.g AS v FROM f ORDER BY f.g LIMIT 1) x;
-- view: some_with_its_text
SELECT b.n, x.v FROM b LEFT JOIN LATERAL (SELECT b.s::text || f.g AS v FROM f WHERE f.t > b.s AND f.g > b.n) x ON true;
-- view: exists_by_its_text
SELECT d.id, EXISTS (SELECT 1 FROM f WHERE f.t::text > d.s::text) AS v FROM d;
-- view: in_by_its_text
SELECT d.id, d.g IN (SELECT f.g FROM f WHERE f.t::text >= d.s::text) AS v FROM d;
-- view: left_join_on_a_subquery
SELECT d.id, f.g FROM d LEFT JOIN f ON f.g = (SELECT max(x.g) FROM f x WHERE x.t::text >= d.s::text AND x.g <= f.g);
-- view: doubled
WITH RECURSIVE r(id, s, k) AS (SELECT id, s, 1 FROM d UNION ALL SELECT id, s + s, k + 1 FROM r WHERE k < 3) SELECT id, s::text AS t, k FROM r;
-- view: last_of_each
SELECT x.g, x.m::text AS m FROM (SELECT g, s AS m FROM d WHERE id IN (SELECT max(id) FROM d GROUP BY g)) x;
-- view: lateral_values
SELECT d.id, u.v FROM d, LATERAL (VALUES (extract(epoch FROM d.s) / 86400)) u(v);
-- view: lateral_aggregate
SELECT d.id, u.dd, u.hh, u.n FROM d LEFT JOIN LATERAL (SELECT extract(day FROM d.s) AS dd, extract(hour FROM d.s) AS hh, count(*) AS n FROM d e WHERE e.g = d.g) u ON true;
-- view: correlated_parts
SELECT d.id, (SELECT count(*) FROM d e WHERE e.s < d.s AND extract(day FROM d.s) = 1) AS n, (SELECT string_agg(d.s::text || e.id, ',' ORDER BY e.id) FROM d e WHERE e.id < d.id) AS t FROM d;
-- view: lateral_first
SELECT d.id, x.t, x.u FROM d LEFT JOIN LATERAL (SELECT d.s::text AS t, f.t::text AS u FROM f WHERE f.t = d.s ORDER BY f.g LIMIT 1) x ON true;
-- view: left_join_on_its_parts
SELECT d.id, f.g FROM d LEFT JOIN f ON f.t = d.s AND extract(day FROM d.s) = 1 AND (SELECT count(*) FROM f x WHERE x.t < d.s AND extract(hour FROM d.s) = 24) = 0;
-- view: case_of_exists
SELECT d.id, CASE WHEN EXISTS (SELECT 1 FROM f WHERE f.t > d.s OR extract(day FROM d.s) = 1) THEN 1 END AS t FROM d;
-- view: parts_of_ranked
SELECT id, extract(hour FROM s) AS h FROM (SELECT id, s, rank() OVER (PARTITION BY g ORDER BY id) AS r FROM d) x WHERE r <= 2;
-- view: correlated_recursion
SELECT d.id, (WITH RECURSIVE r(n, t) AS (SELECT 1, d.s::text UNION ALL SELECT n + 1, t || '+' FROM r WHERE n < 3) SELECT max(t) FROM r) AS t FROM d;
-- view: lateral_union
SELECT d.id, x.t FROM d CROSS JOIN LATERAL (SELECT d.s::text AS t UNION ALL SELECT f.t::text FROM f WHERE f.g = d.g AND f.t <= d.s) x;
-- view: elements_beside_it
SELECT e.id, x::text AS x FROM e, unnest(ARRAY[e.s, interval '2 days']) x;
-- view: elements_of_it
SELECT e.id, x::text AS x, o FROM e, unnest(e.a) WITH ORDINALITY AS u(x, o);
-- view: elements_of_it_or_none
SELECT e.id, x::text AS x FROM e LEFT JOIN LATERAL unnest(e.a) x ON true;
-- view: members_of_it
SELECT e.id, m.key, m.value #>> '{}' AS v FROM e, jsonb_each(jsonb_build_object('s', e.s, 'n', e.id)) m;
-- view: series_by_its_parts
SELECT e.id, x FROM e, generate_series(1, extract(day FROM e.s)::int % 7) x;
-- view: series_by_its_parts_or_none
SELECT e.id, x FROM (SELECT id, extract(day FROM s)::int % 7 AS n FROM e WHERE id < 5) e LEFT JOIN LATERAL generate_series(1, e.n) x ON true;
-- view: times_in_steps_of_it
SELECT e.id, x FROM e, generate_series(timestamp '2024-01-30', timestamp '2024-04-02', CASE WHEN e.s > interval '12:00' THEN e.s ELSE interval '1 mon' END) x;
-- view: arrays_shown
SELECT id, a::text AS a FROM e;
-- view: arrays_without_a_key
SELECT a::text AS a, n FROM w;
-- view: arrays_read_in_a_subquery
SELECT e.id, (SELECT e.a::text || count(*) FROM f) AS v, (SELECT e.a[1]::text || max(f.g) FROM f WHERE f.g > 1) AS u FROM e;
-- view: rounds_over_it
WITH RECURSIVE r(id, x, k) AS (SELECT id, s, 1 FROM e UNION ALL SELECT r.id, u.x, k + 1 FROM r, unnest(ARRAY[r.x, interval '3 days']) u(x) WHERE k < 3)
SELECT id, x::text AS x, k FROM r;
-- view: arrays_read_beside_rows
SELECT e.id, (SELECT max(e.a::text || f.g) FROM f WHERE f.t <> e.s OR e.s IS NULL) AS v FROM e;
-- view: arrays_limited_beside_rows
SELECT e.id, x.v, x.n FROM e LEFT JOIN LATERAL (SELECT e.a::text || f.g AS v, cardinality(e.a) AS n FROM f WHERE f.t <> e.s ORDER BY f.g LIMIT 1) x ON true;
-- view: times_back_in_steps_of_it
SELECT f.g, x FROM f, generate_series(timestamp '2024-05-31 10:00', timestamp '2023-01-29 12:00', - (f.t + interval '1 mon 1 hour')) x;
-- view: zoned_times_in_steps_of_it
SELECT f.g, x FROM f, generate_series(timestamptz '2024-01-31 10:00+00', timestamptz '2025-07-29 12:00+00', f.t + interval '1 mon 1 day') x;
