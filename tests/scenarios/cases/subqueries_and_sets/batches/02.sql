BEGIN;
UPDATE b SET z = z + 2, a_id = a_id + 1 WHERE id % 3 = 0;
DELETE FROM a WHERE x = 1;
UPDATE a SET arr = NULL, iv = NULL WHERE id % 9 = 0;
COMMIT;
UPDATE a SET id = id + 500 WHERE id IN (2, 3);
