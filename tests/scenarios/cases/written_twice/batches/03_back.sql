INSERT INTO customer VALUES (1, 'gold', 'Rome', 4), (5, NULL, NULL, NULL);
UPDATE orders SET customer_id = 1 WHERE id < 8;
DELETE FROM orders WHERE id > 50;
