BEGIN;
UPDATE badges SET id = id + 100, marks = ARRAY[1] WHERE owner < 3;
UPDATE posts SET posted = posted + 400, score = score - 100, body = 'select select' WHERE id % 4 = 1;
DELETE FROM badges WHERE owner = 5;
COMMIT;
