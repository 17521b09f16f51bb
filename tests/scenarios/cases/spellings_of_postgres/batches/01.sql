UPDATE a SET x = x + 1, md = 'happy', s = 30000 WHERE id % 3 = 0; INSERT INTO b VALUES (50, 9, 9, 'w5'), (51, NULL, 1, NULL); DELETE FROM a WHERE id > 35;
