INSERT INTO t VALUES (1, 1, 1, 'a', 9, '1 day', '{"a": 1}', 5), (2, 1, 2, 'a', 8, '3 hours', '{"a": 1.0}', 7), (3, 2, 1, 'b', 8, '1 month', '2', 7),
    (4, 2, NULL, 'c', 7, '30 days', '2.00', NULL), (5, NULL, 1, 'c', 28.13, NULL, NULL, 1), (6, 3, 3, 'c', 28.13, '720 hours', '[1]', 2),
    (7, 1, 0, 'd', NULL, '2 hours', '{"a": 2}', 3);
INSERT INTO u VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, NULL);
INSERT INTO z SELECT i, 'x', i / 2 FROM generate_series(1, 8) i;
INSERT INTO z SELECT 100 + i, 'y', i / 3 FROM generate_series(1, 7) i;
INSERT INTO n1 SELECT i % 4, i FROM generate_series(1, 9) i;
INSERT INTO n2 SELECT i, i * 10 FROM generate_series(0, 2) i;
INSERT INTO n3 SELECT i, i * 100 FROM generate_series(1, 3) i;
