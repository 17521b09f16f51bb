BEGIN; INSERT INTO nums SELECT g, g / 4.0, g / 2.0, g, g, g FROM generate_series(200, 210) g; INSERT INTO codes VALUES (60, 'x', 1), (61, 'ab', 1);
UPDATE names SET v = 'ab', t = 'ab' WHERE kind = 1; COMMIT;
