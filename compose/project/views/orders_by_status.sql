CREATE MATERIALIZED VIEW orders_by_status WITH (engine = 'duckdb') AS
SELECT status, count(*) AS orders, min(ordered_at) AS oldest, max(ordered_at) AS newest
FROM orders
GROUP BY status;
