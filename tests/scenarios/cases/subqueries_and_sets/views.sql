-- view: v001
SELECT id FROM a WHERE (x, y) = (SELECT z, a_id FROM b WHERE b.id = a.id);
-- view: v002
SELECT id FROM a WHERE (x, y) = (SELECT max(z), min(a_id) FROM b);
-- view: v003
SELECT id FROM a WHERE ROW(x, y) IN (SELECT z, a_id FROM b);
-- view: v004
SELECT id FROM a WHERE (x, y) NOT IN (SELECT z, a_id FROM b);
-- view: v005
SELECT id, unnest(arr) AS p, unnest(arr2) AS q FROM a;
-- view: v006
SELECT id, unnest(arr), generate_series(1, 3) FROM a;
-- view: v007
SELECT id, u.* FROM a, unnest(arr, arr2) AS u(p, q);
-- view: v008
SELECT id, u.* FROM a, unnest(arr, arr2) WITH ORDINALITY AS u(p, q, o);
-- view: v009
SELECT a.id, b.id AS bid FROM a LEFT JOIN b ON b.a_id = a.id AND b.z > (SELECT avg(z) FROM b b2 WHERE b2.a_id = a.id);
-- view: v010
SELECT (SELECT max(z) FROM b WHERE b.a_id = a.id) AS m, count(*) FROM a GROUP BY (SELECT max(z) FROM b WHERE b.a_id = a.id);
-- view: v011
SELECT (SELECT max(z) FROM b WHERE b.a_id = a.id) AS m, count(*) FROM a GROUP BY 1;
-- view: v012
SELECT x, count(*) FROM a GROUP BY x HAVING sum(y) > (SELECT avg(z) FROM b WHERE b.a_id = a.x);
-- view: v013
SELECT x, (SELECT sum(a.y + b.z) FROM b) FROM a GROUP BY x, y;
-- view: v014
SELECT sum(iv), avg(iv) FROM a;
-- view: v015
SELECT x, sum(iv) AS t, avg(iv) FROM a GROUP BY x;
-- view: v016
SELECT avg(ts - d) FROM a;
-- view: v017
SELECT x, avg(b.ts - a.ts) FROM a JOIN b ON b.a_id = a.id GROUP BY x;
-- view: v018
SELECT a.id, g FROM a RIGHT JOIN generate_series(1, 10) AS g ON g = a.x;
-- view: v019
SELECT g, count(a.id) FROM generate_series(1, 10) AS g LEFT JOIN a ON a.x = g GROUP BY g;
-- view: v020
SELECT id, x FROM a WHERE x = ANY (ARRAY(SELECT z FROM b));
-- view: v021
SELECT x, json_object_agg(id, y ORDER BY id) FROM a GROUP BY x;
-- view: v022
SELECT x, jsonb_object_agg(s || id, y) FILTER (WHERE y > 0 AND s IS NOT NULL) FROM a GROUP BY x;
-- view: v023
SELECT x, array_agg(DISTINCT y ORDER BY y) FROM a GROUP BY x;
-- view: v024
SELECT x, string_agg(DISTINCT s, ',' ORDER BY s) FROM a GROUP BY x;
-- view: v025
SELECT x, percentile_cont(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY y) FROM a GROUP BY x;
-- view: v026
SELECT x, bit_and(y), bit_or(y), bit_xor(y) FROM a GROUP BY x;
-- view: v027
SELECT x, count(DISTINCT (y, s)) FROM a GROUP BY x;
-- view: v028
SELECT x, count(DISTINCT s) FILTER (WHERE y > 1) FROM a GROUP BY x;
-- view: v029
SELECT DISTINCT ON (x) x, y, id FROM a ORDER BY x, y DESC;
-- view: v030
SELECT v.k, v.name, a.id FROM (VALUES (1, 'a'), (2, 'b')) v(k, name) JOIN a ON a.x = v.k;
-- view: v031
SELECT a.*, b.z FROM a NATURAL JOIN b;
-- view: v032
SELECT id, a.x, b.z FROM a JOIN b USING (id);
-- view: v033
SELECT id, x FROM a ORDER BY x FETCH FIRST 3 ROWS WITH TIES;
-- view: v034
SELECT id FROM a WHERE x IS NOT DISTINCT FROM (SELECT max(z) FROM b);
-- view: v035
SELECT id FROM a EXCEPT ALL SELECT a_id FROM b;
-- view: v036
WITH RECURSIVE r AS (SELECT id, x FROM a WHERE x IS NULL UNION ALL SELECT a.id, a.x FROM a JOIN r ON a.x = r.id) SELECT * FROM r;
-- view: v037
WITH RECURSIVE r(q) AS (VALUES (1) UNION ALL SELECT q + 1 FROM r WHERE q < 10) SELECT q, count(a.id) FROM r LEFT JOIN a ON a.x = q GROUP BY q;
-- view: v038
WITH RECURSIVE r AS (SELECT id, ARRAY[id] AS path FROM a UNION ALL SELECT b.a_id, path || b.id FROM b JOIN r ON r.id = b.id WHERE NOT b.id = ANY(path)) SELECT id, path FROM r;
-- view: v039
SELECT x, grouping(x, s), count(*) FROM a GROUP BY GROUPING SETS ((x, s), (x), ());
-- view: v040
SELECT x, s, count(*) FROM a GROUP BY ROLLUP (x, s) HAVING grouping(s) = 0;
-- view: v041
SELECT x, s, sum(y) FROM a GROUP BY x, CUBE (s, d);
-- view: v042
SELECT id, sum(y) OVER w, rank() OVER (w ORDER BY y) FROM a WINDOW w AS (PARTITION BY x);
-- view: v043
SELECT id, count(*) FILTER (WHERE y > 0) OVER (PARTITION BY x) FROM a;
-- view: v044
SELECT id, sum(y) OVER (ORDER BY ts RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) FROM a;
-- view: v045
SELECT id, array_agg(y) OVER (PARTITION BY x ORDER BY id) FROM a;
-- view: v046
SELECT id, string_agg(s, ',') OVER (PARTITION BY x ORDER BY id) FROM a;
-- view: v047
SELECT id, nth_value(y, 2) OVER (PARTITION BY x ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM a;
-- view: v048
SELECT id, sum(y) OVER (PARTITION BY x ORDER BY id GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM a;
-- view: v049
SELECT x, mode() WITHIN GROUP (ORDER BY s) FROM a GROUP BY x;
-- view: v050
SELECT a.id, l.* FROM a LEFT JOIN LATERAL (SELECT z, w FROM b WHERE b.a_id = a.id ORDER BY z DESC LIMIT 2) l ON true;
-- view: v051
SELECT a.id, l.c FROM a, LATERAL (SELECT count(*) AS c FROM b WHERE b.a_id = a.id AND b.z > a.x) l;
-- view: v052
SELECT x, (array_agg(s ORDER BY y DESC, id))[1] FROM a GROUP BY x;
-- view: v053
SELECT id, CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.a_id = a.id) THEN 'y' ELSE 'n' END FROM a;
-- view: v054
SELECT x, sum(CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.a_id = a.id) THEN 1 ELSE 0 END) FROM a GROUP BY x;
-- view: v055
SELECT x, sum((SELECT count(*) FROM b WHERE b.a_id = a.id)) FROM a GROUP BY x;
-- view: v056
SELECT id, x > ALL (SELECT z FROM b WHERE b.a_id = a.id) FROM a;
-- view: v057
SELECT id FROM a WHERE x > SOME (SELECT z FROM b);
-- view: v058
SELECT id FROM a ORDER BY (SELECT max(z) FROM b WHERE b.a_id = a.id) DESC NULLS LAST, id LIMIT 5;
-- view: v059
SELECT x, sum(y) OVER (PARTITION BY (SELECT max(z) FROM b WHERE b.a_id = a.id)) FROM a;
-- view: v060
SELECT sum(sum(y)) OVER (ORDER BY x) FROM a GROUP BY x;
-- view: v061
SELECT id, e.key, e.value FROM a, jsonb_each(j) e;
-- view: v062
SELECT id, r.* FROM a, jsonb_to_record(j) AS r(k int, n text);
-- view: v063
SELECT id, r.* FROM a, jsonb_to_recordset(j -> 'items') AS r(k int, n text);
-- view: v064
SELECT id, e.value ->> 'k' FROM a, jsonb_array_elements(j -> 'items') WITH ORDINALITY AS e(value, o);
-- view: v065
SELECT id, t FROM a, string_to_table(s, ',') t;
-- view: v066
SELECT id, t FROM a, regexp_split_to_table(s, ',') t;
-- view: v067
SELECT id, i, arr[i] FROM a, generate_subscripts(arr, 1) i;
-- view: v068
SELECT id, g FROM a, generate_series(a.ts, a.ts + interval '3 days', interval '1 day') g;
-- view: v069
SELECT day::date, count(a.id) FROM generate_series(date '2020-01-01', date '2020-12-31', interval '1 day') day LEFT JOIN a ON a.d = day::date GROUP BY day;
-- view: v070
SELECT x, count(b.*) FROM a LEFT JOIN b ON b.a_id = a.id GROUP BY x;
-- view: v071
SELECT coalesce(sum(y), 0) FROM a WHERE false;
-- view: v072
SELECT 1 AS one;
-- view: v073
SELECT max(x) FILTER (WHERE s LIKE 'a%') - min(x) FROM a;
-- view: v074
SELECT x FROM a GROUP BY x HAVING every(y > 0);
-- view: v075
SELECT s FROM a ORDER BY s COLLATE "C" LIMIT 3;
-- view: v076
SELECT variance(x), stddev_pop(n), corr(x, y), regr_slope(y, x) FROM a;
-- view: v077
SELECT sum(DISTINCT n), avg(DISTINCT x) FROM a;
-- view: v078
SELECT max(d) AS d, min(ts) AS ts, max(s) AS s, max(n) AS n FROM a;
-- view: v079
SELECT x FROM a UNION SELECT z FROM b INTERSECT SELECT y FROM a;
-- view: v080
(SELECT x FROM a ORDER BY x LIMIT 3) UNION ALL (SELECT z FROM b ORDER BY z LIMIT 3);
-- view: v081
SELECT * FROM (SELECT x, y FROM a UNION ALL SELECT z, a_id FROM b) u WHERE x IN (SELECT z FROM b);
-- view: v082
SELECT s || iv FROM a;
-- view: v083
SELECT iv / 2 AS h, iv * 1.5 AS m, -iv AS n FROM a;
-- view: v084
SELECT count(*) FROM a, b WHERE a.x BETWEEN SYMMETRIC b.z AND b.a_id;
-- view: v085
TABLE a;
-- view: v086
SELECT DISTINCT x, count(*) OVER (PARTITION BY s) FROM a;
-- view: v087
SELECT id, substring(s, '^[a-z]+') FROM a;
-- view: v088
SELECT min(j ->> 'k') FROM a;
-- view: v089
SELECT j -> 'k' AS k, count(*) FROM a GROUP BY j -> 'k';
-- view: v090
SELECT DISTINCT j FROM a;
-- view: v091
SELECT arr, count(*) FROM a GROUP BY arr;
-- view: v092
SELECT max(arr) FROM a;
-- view: v093
SELECT iv, count(*) FROM a GROUP BY iv;
-- view: v094
SELECT GREATEST(x, y, 0) AS g, LEAST(x, y) AS l FROM a;
-- view: v095
SELECT a.x, b.* FROM a FULL JOIN b ON a.id = b.a_id AND a.x > 3;
-- view: v097
SELECT a.x, b.z FROM a LEFT JOIN (b JOIN a a2 ON a2.id = b.a_id) ON b.z = a.x;
-- view: v098
SELECT (SELECT string_agg(w, ',' ORDER BY z) FROM b WHERE b.a_id = a.id) FROM a;
-- view: v099
SELECT (SELECT ARRAY_AGG(z) FROM b WHERE b.a_id = a.id)[1] FROM a;
-- view: v100
SELECT ARRAY(SELECT z FROM b WHERE b.a_id = a.id ORDER BY z) FROM a;
-- view: v101
SELECT id, (SELECT b.z FROM b WHERE b.a_id = a.id ORDER BY b.ts DESC LIMIT 1) AS last FROM a;
-- view: v102
SELECT x, json_agg(json_build_object('id', id, 's', s) ORDER BY id) FROM a GROUP BY x;
-- view: v103
SELECT EXTRACT(EPOCH FROM (SELECT max(ts) FROM b) - ts) FROM a;
-- view: v104
SELECT cardinality(arr) FROM a WHERE 3 = ANY(arr) AND arr && ARRAY[1,2];
-- view: v105
SELECT max(x) OVER (PARTITION BY y ORDER BY id ROWS 3 PRECEDING) FROM a;
-- view: v106
SELECT first_value(s) OVER w, last_value(s) OVER w FROM a WINDOW w AS (PARTITION BY x ORDER BY id);
-- view: v107
SELECT ntile(4) OVER (ORDER BY x, id), cume_dist() OVER (ORDER BY x), percent_rank() OVER (ORDER BY x) FROM a;
-- view: v108
SELECT lead(x, 2, 0) OVER (PARTITION BY s ORDER BY id) FROM a;
-- view: v109
SELECT x, sum(iv) FILTER (WHERE y > 0) AS t, avg(ts - d) AS m FROM a GROUP BY x HAVING sum(iv) > interval '2 days' OR count(*) < 4;
-- view: v110
SELECT id, g, unnest(arr2) AS u FROM (SELECT id, arr2, generate_series(1, 2) AS g FROM a) q;
-- view: v111
SELECT x, count(DISTINCT (y, s)) AS n FROM a GROUP BY x;
-- view: v112
SELECT x, jsonb_object_agg(id::text, y) AS o FROM a GROUP BY x;
-- view: v113
SELECT to_char(ts, 'YYYY-MM') AS month, to_char(sum(n), 'FM999,990.00') AS total FROM a GROUP BY 1;
-- view: v114
SELECT format('%s: %s', s, n) AS f, (regexp_match(s, '([a-z])([0-9])'))[2] AS m FROM a;
-- view: v115
SELECT id, j || '{"extra": true}' AS j2, j - 'k' AS j3, jsonb_set(j, '{k}', '7') AS j4 FROM a;
-- view: v116
SELECT id FROM a WHERE j @> '{"k": 1}' OR j ? 'nope';
-- view: v117
SELECT id, arr[2:3] AS sl, array_replace(arr, 1, 9) AS rp, 2 > ANY (arr) AS any_of FROM a;
-- view: v118
SELECT id FROM a WHERE s NOT LIKE ALL (ARRAY['r%', '%e%']);
-- view: v119
SELECT date_bin('3 days', ts, timestamp '2024-01-01') AS bin, count(*) AS c FROM a GROUP BY 1;
-- view: v120
SELECT s, bit_and(y) AS ba, bit_or(y) AS bo, bit_xor(y) AS bx FROM a GROUP BY s;
-- view: v121
SELECT bit_and(x::bigint) AS ba, bit_or(x::smallint) FILTER (WHERE y > 0) AS bo FROM a;
-- view: v122
SELECT id, width_bucket(n, 0, 100, 5) AS w FROM a;
-- view: v200
SELECT a.id, e.key, e.value FROM a LEFT JOIN LATERAL jsonb_each_text(a.j) e ON e.key <> 'items';
-- view: v201
SELECT a.id, u.x FROM a LEFT JOIN LATERAL unnest(a.arr) AS u(x) ON u.x > a.y;
