DELETE FROM a WHERE id % 2 = 0;
INSERT INTO b VALUES (1000, 3, 7, 'new', '2024-05-05'), (1001, NULL, NULL, NULL, NULL);
UPDATE a SET s = 'same', j = '{"k": 1, "items": []}' WHERE id > 40;
