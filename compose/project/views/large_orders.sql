CREATE MATERIALIZED VIEW large_orders WITH (engine = 'spark') AS
SELECT order_id, count(*) AS lines, sum(quantity * price) AS total
FROM order_line
GROUP BY order_id
HAVING sum(quantity * price) > 1000;
