INSERT INTO badges SELECT i, i % 5, 'z' || i, ARRAY[i] FROM generate_series(1, 12) i;
INSERT INTO posts (id, owner, score, ratio, posted, at, doc, tag) SELECT 100 + i, i, i, -1e-5 * i, date '1969-12-30' + i, timestamp '1969-12-31' + i * interval '1 day', '{"b": 1, "a": 2}', 't' || i FROM generate_series(0, 6) i;
