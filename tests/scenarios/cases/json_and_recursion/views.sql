-- view: ja_int
SELECT c, jsonb_agg(id ORDER BY id) AS ids FROM o GROUP BY c;
-- view: ja_num
SELECT c, json_agg(amount ORDER BY id DESC) AS a FROM o GROUP BY c;
-- view: ja_text
SELECT c, jsonb_agg(city ORDER BY id) AS a FROM o GROUP BY c;
-- view: ja_filter
SELECT c, jsonb_agg(city ORDER BY id) FILTER (WHERE amount > 30) AS a FROM o GROUP BY c;
-- view: ja_t
SELECT c, jsonb_agg(id ORDER BY id)::text AS ids, json_agg(b ORDER BY id)::text AS bs FROM o GROUP BY c;
-- view: ja_obj
SELECT c, jsonb_agg(jsonb_build_object('id', id, 'city', city, 'at', at, 'ts', ts, 'd', d) ORDER BY id)::text AS o FROM o GROUP BY c;
-- view: obj
SELECT id, jsonb_build_object('id', id, 'city', city) AS o, json_build_object('id', id, 'a', amount)::text AS t FROM o;
-- view: ja_all
SELECT jsonb_agg(id ORDER BY id) AS ids FROM o WHERE amount > 20;
-- view: limit_in
SELECT c, count(*) AS n FROM (SELECT * FROM o ORDER BY amount DESC, id LIMIT 20) t GROUP BY c;
-- view: limit_join
SELECT o.id, t.n FROM o JOIN (SELECT c, count(*) AS n FROM o GROUP BY c ORDER BY n DESC, c LIMIT 3) t ON t.c = o.c;
-- view: win_in
SELECT c, max(r) AS m FROM (SELECT c, rank() OVER (ORDER BY amount DESC) AS r FROM o) t GROUP BY c;
-- view: win_total
SELECT id, share FROM (SELECT id, amount / sum(amount) OVER () AS share FROM o) t WHERE share > 0.02;
-- view: offset_in
SELECT count(*) AS n, sum(amount) AS s FROM (SELECT amount FROM o ORDER BY id OFFSET 5 LIMIT 10) t;
-- view: nowf
SELECT id FROM o WHERE at < now() - interval '1 day';
-- view: nowg
SELECT city, count(*) AS n FROM o WHERE d >= current_date - 10000 GROUP BY city;
-- view: rec
WITH RECURSIVE t(k, depth) AS (SELECT k, 0 FROM w WHERE up IS NULL UNION ALL SELECT w.k, depth+1 FROM w JOIN t ON w.up = t.k) SELECT depth, count(*) AS n FROM t GROUP BY depth;
-- view: rec_union
WITH RECURSIVE t AS (SELECT up AS a, k AS b FROM w WHERE up IS NOT NULL UNION SELECT t.a, w.k FROM t JOIN w ON w.up = t.b) SELECT a, b FROM t;
-- view: bits
SELECT c, bit_and(id) AS a, bit_or(id) AS o, bit_xor(id) AS x FROM o GROUP BY c;
-- view: jarr
SELECT id, jsonb_build_array(id, c) AS a FROM o;
-- view: rec_path
WITH RECURSIVE t AS (SELECT k, name::text AS path FROM w WHERE up IS NULL UNION ALL SELECT w.k, t.path || '/' || w.name FROM t, w WHERE w.up = t.k) SELECT * FROM t;
-- view: rec_series
WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 10) SELECT s.n, count(o.id) AS c FROM s LEFT JOIN o ON o.c = s.n GROUP BY s.n;
-- view: rec_sum
WITH RECURSIVE t AS (SELECT k AS root, k FROM w WHERE up IS NULL UNION ALL SELECT t.root, w.k FROM t JOIN w ON w.up = t.k) SELECT root, count(*) AS n, sum(o.amount) AS s FROM t LEFT JOIN o ON o.c = t.k GROUP BY root;
-- view: rec_up
WITH RECURSIVE a AS (SELECT k AS leaf, up, 1 AS d FROM w WHERE k > 10 UNION ALL SELECT a.leaf, w.up, d + 1 FROM a JOIN w ON w.k = a.up WHERE d < 8) SELECT leaf, max(d) AS depth FROM a GROUP BY leaf;
-- view: rec_exists
WITH RECURSIVE t AS (SELECT k FROM w WHERE up IS NULL UNION SELECT w.k FROM w JOIN t ON w.up = t.k WHERE EXISTS (SELECT 1 FROM o WHERE o.c = w.k % 7)) SELECT k FROM t;
-- view: rec_not
WITH RECURSIVE t AS (SELECT k FROM w WHERE up IS NULL UNION SELECT w.k FROM w JOIN t ON w.up = t.k) SELECT k FROM w WHERE k NOT IN (SELECT k FROM t);
-- view: scalar_subscripts
SELECT id, to_jsonb(city) ->> 0 AS a, to_jsonb(city) ->> 1 AS b, j -> 'n' ->> 0 AS n, to_jsonb(id) -> -1 AS last FROM o;
-- view: rec_but_for_some
WITH RECURSIVE r AS (SELECT k FROM w WHERE up IS NULL UNION SELECT w.k FROM w JOIN r ON w.up = r.k WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.c = w.k % 7 AND o.amount > 90))
SELECT k FROM r;
-- view: rec_beside_an_outer_join
WITH RECURSIVE r AS (SELECT k, 0 AS depth, name AS path FROM w WHERE up IS NULL UNION ALL
  SELECT w.k, r.depth + 1, r.path || '/' || coalesce(o.city, w.name) FROM r JOIN w ON w.up = r.k LEFT JOIN o ON o.id = w.k AND o.b WHERE r.depth < 20)
SELECT k, depth, path FROM r;
-- view: rec_with_a_sum_of_another_table
WITH RECURSIVE r AS (SELECT k, 0::numeric AS total FROM w WHERE up IS NULL UNION ALL
  SELECT w.k, r.total + coalesce((SELECT sum(o.amount) FROM o WHERE o.c = w.k), 0) FROM w JOIN r ON w.up = r.k WHERE w.k NOT IN (SELECT id FROM o WHERE city = 'new'))
SELECT r.k, r.total, count(o.id) AS n FROM r LEFT JOIN o ON o.c = r.k GROUP BY r.k, r.total;
-- view: rec_from_both_ends
WITH RECURSIVE up AS (SELECT k, up, 1 AS n FROM w WHERE name LIKE 'm%' UNION SELECT w.k, w.up, up.n + 1 FROM up LEFT JOIN o ON o.id = up.k JOIN w ON w.k = up.up WHERE o.id IS NULL OR o.c > 1)
SELECT k, max(n) AS n FROM up GROUP BY k;
