UPDATE t SET share = -share, b = b || '\xc3a5' WHERE id % 2 = 0;
UPDATE u SET v = v + 1 WHERE id % 3 = 0;
