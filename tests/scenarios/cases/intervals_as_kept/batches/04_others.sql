INSERT INTO t VALUES (7, 1, '1 day', '{1 day}', 'a', 'a'), (8, 1, '23:59:60', '{24:00}', 'b', 'a '); DELETE FROM t WHERE id = 1;
