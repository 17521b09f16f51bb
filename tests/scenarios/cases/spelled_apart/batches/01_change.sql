UPDATE "Order Items" SET x = x + 1 WHERE "Item Id" < 4;
UPDATE v SET arr = arr || 7, x = 7 WHERE id % 2 = 0;
UPDATE k SET j = j || '{"it''s": {"bb": 1, "c": 0.10}}' WHERE id < 4;
INSERT INTO k VALUES (20, '{"aa": 1, "b": {"aaa": 2, "cc": 3, "c": 4.0}}', 'b');
DELETE FROM k WHERE id = 12;
UPDATE spans SET ivs = ivs || '-3 days 04:00'::interval WHERE id = 1;
UPDATE num SET f8 = f8 / 3, f4 = f4 / 3, i4 = i4 + 5000 WHERE id % 2 = 0;
DELETE FROM misc WHERE id IN (1, 5);
UPDATE misc SET d = d + 20, s = s || '$', u = md5(s)::uuid, m = 'ok' WHERE id IN (2, 7, 9);
