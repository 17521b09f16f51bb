BEGIN;
UPDATE doc SET id = id + 200 WHERE id BETWEEN 20 AND 24;
UPDATE doc SET kind = 'z', "Mixed Case" = 9, "a,b;c" = 'moved' WHERE kind = 'x';
DELETE FROM doc WHERE body @> '[{"k": "wifi"}]' AND id < 20;
UPDATE link SET weight = weight + 1 WHERE src < 4;
INSERT INTO link SELECT 20 + i, 21 + i, 1, 'chain' FROM generate_series(1, 6) i;
COMMIT;
