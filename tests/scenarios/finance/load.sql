INSERT INTO bids SELECT i, i % 10, (i * 7919) % 300 * 10, 100 + (i * 104729) % 20000 FROM generate_series(1, 120) i;
INSERT INTO asks SELECT i, i % 10, (i * 7919) % 300 * 10, 100 + (i * 104729) % 20000 FROM generate_series(1, 100) i;
