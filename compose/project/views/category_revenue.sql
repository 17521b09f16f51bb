CREATE MATERIALIZED VIEW category_revenue WITH (engine = 'spark') AS
SELECT p.category, count(*) AS lines, sum(l.quantity * l.price) AS revenue, avg(l.quantity) AS average_quantity
FROM order_line AS l
JOIN product AS p ON p.product_id = l.product_id
GROUP BY p.category;
