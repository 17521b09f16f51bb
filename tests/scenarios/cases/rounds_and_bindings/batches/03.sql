TRUNCATE line;
INSERT INTO line SELECT o, n, o - n, 0 FROM generate_series(1, 6) a(o), generate_series(1, 3) b(n);
DELETE FROM emp WHERE id > 3;
