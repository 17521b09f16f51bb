-- view: key_in_having
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o GROUP BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) HAVING (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) <> 'gold';
-- view: item_in_having
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o GROUP BY 1 HAVING (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) <> 'gold' OR (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) IS NULL;
-- view: key_in_order
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o GROUP BY 1 ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) LIMIT 2;
-- view: key_in_window
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, rank() OVER (ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) AS r, sum(count(*)) OVER (PARTITION BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) = 'gold' ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) AS w FROM orders o GROUP BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id);
-- view: key_in_items
SELECT coalesce((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), 'none') AS t, upper((SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) || max(o.status) AS u, max((SELECT c.balance FROM customer c WHERE c.id = o.customer_id)) AS b FROM orders o GROUP BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id);
-- view: expression_as_key
SELECT coalesce((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), 'none') AS t, count(*) AS n FROM orders o GROUP BY coalesce((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), 'none') HAVING coalesce((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), 'none') <> 'gold';
-- view: exists_as_key
SELECT EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id) AS h, NOT EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id) AS nh, count(*) AS n FROM orders o GROUP BY EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id) HAVING EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id) OR count(*) > 1;
-- view: in_as_key
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) IN (SELECT d.tier FROM customer d WHERE d.balance > 100) AS i, count(*) AS n FROM orders o GROUP BY 1, 2;
-- view: distinct_list_in_order
SELECT o.status, array_agg(DISTINCT (SELECT c.city FROM customer c WHERE c.id = o.customer_id) ORDER BY (SELECT c.city FROM customer c WHERE c.id = o.customer_id)) AS a, string_agg(DISTINCT (SELECT c.city FROM customer c WHERE c.id = o.customer_id), ',' ORDER BY (SELECT c.city FROM customer c WHERE c.id = o.customer_id) DESC) AS s FROM orders o GROUP BY o.status;
-- view: distinct_of_one_value
SELECT array_agg(DISTINCT (SELECT max(balance) FROM customer) ORDER BY (SELECT max(balance) FROM customer)) AS a FROM orders o;
-- view: distinct_of_exists
SELECT o.status, array_agg(DISTINCT EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id) ORDER BY EXISTS (SELECT 1 FROM line l WHERE l.order_id = o.id)) AS a FROM orders o GROUP BY o.status;
-- view: distinct_counts
SELECT o.status, count(DISTINCT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) AS a, string_agg(DISTINCT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id), ',' ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) DESC) AS b, count(*) FILTER (WHERE (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) = 'gold') AS g FROM orders o GROUP BY o.status;
-- view: distinct_in_order
SELECT DISTINCT o.status, (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t FROM orders o ORDER BY o.status, (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) LIMIT 4;
-- view: distinct_items
SELECT DISTINCT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) || 'x' AS u, CASE WHEN (SELECT c.balance FROM customer c WHERE c.id = o.customer_id) > 5 THEN (SELECT c.balance FROM customer c WHERE c.id = o.customer_id) END AS b FROM orders o;
-- view: distinct_on
SELECT DISTINCT ON ((SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, o.id FROM orders o ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id), o.id DESC;
-- view: grouping_of_keys
SELECT count(*) AS n, grouping((SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) AS g, grouping((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), o.status) AS h FROM orders o GROUP BY CUBE ((SELECT c.tier FROM customer c WHERE c.id = o.customer_id), o.status);
-- view: rollup_in_order
SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o GROUP BY ROLLUP ((SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) ORDER BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) NULLS FIRST, count(*) LIMIT 3;
-- view: no_keys_but_twice
SELECT o.status, (SELECT max(balance) FROM customer) AS m, (SELECT max(balance) FROM customer) + 1 AS m2, count(*) AS n FROM orders o GROUP BY o.status HAVING count(*) < (SELECT max(balance) FROM customer) OR (SELECT max(balance) FROM customer) IS NULL;
-- view: of_the_key
SELECT o.status, CASE WHEN (SELECT count(*) FROM orders p WHERE p.status = o.status) > 3 THEN (SELECT count(*) FROM orders p WHERE p.status = o.status) ELSE 0 END AS g, sum((SELECT c.balance FROM customer c WHERE c.id = o.customer_id)) AS s, max((SELECT c.balance FROM customer c WHERE c.id = o.customer_id)) FILTER (WHERE (SELECT c.balance FROM customer c WHERE c.id = o.customer_id) > 10) AS b FROM orders o GROUP BY o.status HAVING (SELECT count(*) FROM orders p WHERE p.status = o.status) > 1;
-- view: nested
SELECT x.t, x.n FROM (SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o WHERE (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) IS NOT NULL AND (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) <> 'zz' GROUP BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) HAVING (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) < 'z') x WHERE x.n > (SELECT min(n) FROM (SELECT (SELECT c.tier FROM customer c WHERE c.id = o.customer_id) AS t, count(*) AS n FROM orders o GROUP BY (SELECT c.tier FROM customer c WHERE c.id = o.customer_id)) y);
-- view: determined_in_a_window
SELECT c.id, rank() OVER (ORDER BY (SELECT count(*) FROM customer x WHERE x.city = c.city)) AS r, lag(c.tier) OVER (PARTITION BY c.city ORDER BY c.id) AS l FROM customer c GROUP BY c.id;
-- view: determined_in_a_partition
SELECT c.id, count(*) AS n, sum(count(*)) OVER (PARTITION BY (SELECT max(x.tier) FROM customer x WHERE x.city = c.city)) AS r FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id;
-- view: determined_in_a_set
SELECT c.id, unnest(string_to_array(c.city, 'o')) AS w FROM customer c GROUP BY c.id;
-- view: determined_in_a_series
SELECT c.id, generate_series(1, least(4, (SELECT count(*) FROM customer x WHERE x.city = c.city AND x.id < c.id))) AS g, count(o.id) AS n FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id;
-- view: capitals_apart
SELECT (SELECT Count(*) FROM Line l WHERE L.order_id = o.id) AS k, count(*) AS n FROM orders o GROUP BY (SELECT count(*) FROM line l WHERE l.Order_id = o.id);
