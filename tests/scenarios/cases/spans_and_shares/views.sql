-- view: share_of_none_descending
SELECT g, percentile_disc(0) WITHIN GROUP (ORDER BY n DESC) AS p FROM t GROUP BY g;
-- view: share_in_doubles
SELECT percentile_disc(0.28) WITHIN GROUP (ORDER BY n) AS p FROM t WHERE id <= 25;
-- view: groups
SELECT iv, count(*) AS n FROM t GROUP BY iv;
-- view: slack
SELECT id, interval '1 day' - (b - a) AS slack FROM t WHERE interval '1 day' - (b - a) > interval '20 hours';
-- view: equal_spans
SELECT t.id, u.id AS o FROM t JOIN u ON t.iv = u.iv;
-- view: extremes
SELECT max(interval '1 day' - (b - a)) AS m, min(iv) AS lo, max(iv) AS hi FROM t;
-- view: longest
SELECT id FROM t ORDER BY iv DESC, id LIMIT 4;
-- view: arrays_of_enums
SELECT id, m::text AS m, m < '{happy}'::mood[] AS lt, rank() OVER (ORDER BY m) AS r FROM t;
-- view: between
SELECT id FROM t WHERE interval '1 day' - (b - a) < interval '0' OR iv BETWEEN '22:00' AND '22:30';
-- view: union_of_spans
SELECT DISTINCT iv FROM t WHERE g = 1 UNION SELECT iv FROM u;
-- view: not_in_and_counts
SELECT u.id, u.iv NOT IN (SELECT iv FROM t WHERE g = 0) AS x, (SELECT count(*) FROM t WHERE t.iv > u.iv) AS c, row(u.iv, 1) = row(interval '22:00', 1) AS r FROM u;
-- view: scalars
SELECT greatest(iv, '22:30') AS a, iv IS DISTINCT FROM '22:00' AS b, nullif(iv, '22:00') AS c, CASE iv WHEN '22:00' THEN 1 ELSE 0 END AS d, iv IN ('22:00', '5 days') AS e, id FROM t;
-- view: least_and_parts
SELECT least(interval '1 day' - (b - a), '12:00') AS l, (interval '1 day' - (b - a)) * -1 AS m, abs(extract(epoch FROM interval '1 day' - (b - a))) AS e, id FROM t;
-- view: lists
SELECT array_agg(iv ORDER BY iv, id) AS a, count(DISTINCT iv) AS d, string_agg(id::text, ',' ORDER BY interval '1 day' - (b - a)) AS s FROM t;
-- view: shorter
SELECT a.id, b.id AS o FROM t a JOIN t b ON a.iv < b.iv AND a.g = b.g AND a.id < b.id;
-- view: windows
SELECT id, sum(n) OVER (PARTITION BY iv ORDER BY id) AS s, lag(id) OVER (ORDER BY iv, id) AS l FROM t;
-- view: sums
SELECT g, rank() OVER (ORDER BY sum(iv)) AS r, sum(iv) AS s, sum(iv) > '0' AS p FROM t GROUP BY g;
-- view: shares_of_spans
SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY interval '1 day' - (b - a)) AS p FROM t GROUP BY g;
-- view: rest_of_shares
SELECT g, percentile_disc(ARRAY[0, 0.28, 0.55, 1]) WITHIN GROUP (ORDER BY n DESC) AS p FROM t GROUP BY g;
-- view: lists_of_spans
SELECT g, array_agg(iv ORDER BY id) AS a, max(iv) + interval '14 months' AS m, min(iv) - interval '25 months' AS n FROM t GROUP BY g;
-- view: modes
SELECT g, mode() WITHIN GROUP (ORDER BY iv) AS m FROM t GROUP BY g;
-- view: odd_keys
SELECT id, j ->> '*' AS s, j ? '*' AS h, j #>> '{*}' AS q, j ->> 'a*' AS r, j - 'zz' AS w FROM t;
-- view: each_key
SELECT t.id, e.key, e.value FROM t, jsonb_each(t.j) AS e;
-- view: frames_of_spans
SELECT t.id, count(*) OVER (PARTITION BY g ORDER BY iv RANGE BETWEEN interval '1 day' PRECEDING AND interval '30 hours' FOLLOWING) AS n, sum(t.n) OVER (ORDER BY iv DESC RANGE interval '1 month' PRECEDING) AS s FROM t;
-- view: spans_as_text
SELECT id, to_char(iv, 'DD "d" HH24:MI:SS') AS s, to_char(b - a, 'HH24:MI') AS l, to_char(a::time, 'HH12:MI:SS am') AS t, date_trunc('century', a) AS c, date_trunc('decade', b) AS d FROM t;
