DELETE FROM t;
DELETE FROM u WHERE id = 2;
INSERT INTO z SELECT 200 + i, 'x', i % 3 FROM generate_series(1, 5) i;
