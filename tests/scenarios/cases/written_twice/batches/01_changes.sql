UPDATE customer SET tier = 'gold' WHERE id % 5 = 0;
UPDATE customer SET tier = NULL, city = 'Oslo' WHERE id = 3;
DELETE FROM line WHERE order_id < 20;
INSERT INTO line VALUES (2, 1, 5), (4, 1, 7.5);
UPDATE orders SET customer_id = 5 WHERE id % 9 = 0;
DELETE FROM customer WHERE id = 7;
