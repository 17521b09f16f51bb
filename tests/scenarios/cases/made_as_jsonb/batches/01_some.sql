INSERT INTO badges VALUES (30, 1, 'new', '{}'), (31, 2, 'b1', NULL), (32, 8, 'b', '{7}');
UPDATE posts SET owner = 8, tag = NULL, ratio = 12345678.25 WHERE id IN (3, 9, 12);
DELETE FROM posts WHERE id % 10 = 0;
