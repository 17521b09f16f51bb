BEGIN;
UPDATE emp SET manager_id = 5 WHERE id IN (20, 30);
DELETE FROM emp WHERE id = 7;
INSERT INTO emp VALUES (50, 49, 1500, 'x'), (49, 2, NULL, 'y');
UPDATE line SET amount = amount + 4 WHERE ord % 9 = 0;
DELETE FROM ord WHERE id % 11 = 3;
INSERT INTO line VALUES (2, 9, 100, NULL), (3, 9, NULL, 0);
COMMIT;
