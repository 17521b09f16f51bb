UPDATE a SET x = y, y = x WHERE id % 4 = 0;
INSERT INTO a SELECT id + 100, x, y, s, d + 3, ts + interval '1 day', arr || 5, arr2, j || '{"k": 9}', iv * 2, n + 1 FROM a WHERE id < 12;
DELETE FROM b WHERE id % 5 = 0;
