-- view: old_with_extrema
SELECT price, old_price, max(at) AS last FROM price_log GROUP BY price, old_price;
-- view: again_with_extrema
SELECT price, again_price, max(at) AS last, min(v) AS last_in, max(v) AS last_out FROM price_log GROUP BY price, again_price;
-- view: key_of_ordered
SELECT price, key_price, string_agg(c, ',' ORDER BY id) AS s FROM price_log GROUP BY price, key_price;
-- view: old_read_by_a_join
SELECT a.id, b.n FROM price_log a LEFT JOIN (SELECT price, old_price, count(*) AS n FROM price_log GROUP BY 1, 2) b USING (price, old_price);
-- view: part
SELECT upper(c) AS part, count(DISTINCT v) AS n, sum(price) AS s FROM price_log GROUP BY 1;
-- view: lost
SELECT upper(c) AS lost, max(v) AS m FROM price_log GROUP BY 1;
-- view: m_in
SELECT upper(c) AS m_in, max(v) AS m, count(*) AS m_out FROM price_log GROUP BY 1;
-- view: value_0
SELECT upper(c) AS value_0, count(DISTINCT v) AS n FROM price_log GROUP BY 1;
-- view: in_v
SELECT upper(c) AS "IN_v", count(DISTINCT price) AS n, sum(v) AS s FROM price_log GROUP BY 1;
-- view: days
SELECT date_trunc('day', at) AS day, date_trunc('day', at - interval '1 year') AS old_day, min(v) AS p FROM price_log GROUP BY 1, 2;
-- view: keys_of_rows
SELECT k, string_agg(c, ',' ORDER BY id) AS s, max(v) AS m FROM price_log GROUP BY 1;
-- view: left_by_key
SELECT a.id, b.k, b.v FROM price_log a LEFT JOIN price_log b ON b.id = a.k AND b.v > a.price;
-- view: last_of_each
SELECT id, k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY at DESC, id) AS r FROM price_log) t WHERE r = 1;
-- view: bound_twice
SELECT a.id, a.price_u2, (SELECT count(*) FROM price_log x WHERE x.price = a.price AND x.price_u2 < a.price_u2) AS n FROM price_log a;
