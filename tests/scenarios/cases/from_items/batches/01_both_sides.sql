BEGIN;
UPDATE p SET b = b + 1 WHERE id % 4 = 0; UPDATE a SET b = NULL WHERE id % 10 = 3; UPDATE a SET arr = arr || id WHERE id % 6 = 1;
DELETE FROM q WHERE n = 2; INSERT INTO q VALUES (NULL, 3), (2, NULL), (2, 1), (2, 1); INSERT INTO p VALUES (50, 2), (51, NULL);
COMMIT;
