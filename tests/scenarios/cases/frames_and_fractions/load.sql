INSERT INTO t SELECT i, i % 3, (i * 137 % 9999 - 4000) / 10000.0, convert_to(repeat('å', i % 4) || 'x' || i, 'UTF8'), i FROM generate_series(1, 12) i;
INSERT INTO u SELECT i, i % 4, i * 3 % 7 FROM generate_series(1, 20) i;
