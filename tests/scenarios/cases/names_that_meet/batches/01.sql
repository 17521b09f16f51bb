DELETE FROM price_log WHERE id % 4 = 0;
UPDATE price_log SET old_price = 5 WHERE id = 3;
INSERT INTO price_log SELECT g, g % 4, NULL, g % 3, g % 2, 'd', -g, timestamp '2023-01-01', 1, 2, 3 FROM generate_series(21, 27) g;
