TRUNCATE q; DELETE FROM p; INSERT INTO p SELECT i, i % 3 FROM generate_series(1, 15) i; INSERT INTO q SELECT i % 4, i FROM generate_series(1, 9) i;
