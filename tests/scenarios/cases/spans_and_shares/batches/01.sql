BEGIN;
UPDATE t SET iv = '1 day -1 hour', n = n + 3, j = '{"b": 2}' WHERE id IN (4, 5, 9);
DELETE FROM t WHERE id = 7;
INSERT INTO u VALUES (4, '1 day -2 hours');
COMMIT;
