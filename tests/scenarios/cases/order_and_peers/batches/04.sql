INSERT INTO t VALUES (1, 1, 1, 'a', 9, '1 day', '{"a": 1.00}', 5), (2, 2, 1, 'a', 9, '24 hours', '{"a": 1}', 6);
