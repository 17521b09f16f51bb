DELETE FROM customer;
DELETE FROM orders WHERE status = 'paid';
