INSERT INTO s SELECT id + 100, upper(v), j FROM s WHERE id < 14;
DELETE FROM s WHERE id % 5 = 0;
