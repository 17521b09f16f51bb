CREATE MATERIALIZED VIEW customer_orders WITH (engine = 'duckdb') AS
SELECT c.customer_id, c.name, c.balance, count(o.order_id) AS orders
FROM customer AS c
LEFT JOIN orders AS o ON o.customer_id = c.customer_id AND o.status <> 'shipped'
GROUP BY c.customer_id, c.name, c.balance;
