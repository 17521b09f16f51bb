BEGIN;
DELETE FROM emp WHERE id = 1;
INSERT INTO emp VALUES (1, NULL, 900, 'again');
UPDATE ord SET placed = placed + interval '40 days', customer = customer + 1 WHERE id % 5 = 0;
DELETE FROM line WHERE ord < 10;
UPDATE line SET ord = ord + 100 WHERE ord % 8 = 1;
COMMIT;
