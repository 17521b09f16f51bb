INSERT INTO t VALUES (1, 1, '24:00', '{24:00}', 'a', 'a '), (2, 1, '1 day', '{1 day}', 'a', 'a');
