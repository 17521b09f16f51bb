CREATE MATERIALIZED VIEW top_products WITH (engine = 'duckdb') AS
SELECT product_id, sum(quantity) AS sold
FROM order_line
GROUP BY product_id
ORDER BY sold DESC, product_id
LIMIT 20;
