CREATE MATERIALIZED VIEW city_revenue WITH (engine = 'duckdb') AS
SELECT c.city, count(*) AS lines, sum(l.quantity * l.price) AS revenue
FROM customer AS c
JOIN orders AS o ON o.customer_id = c.customer_id
JOIN order_line AS l ON l.order_id = o.order_id
GROUP BY c.city;
