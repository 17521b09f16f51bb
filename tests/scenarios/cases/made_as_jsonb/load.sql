INSERT INTO posts SELECT i, i % 7, CASE WHEN i % 5 > 0 THEN 'title ' || i END, CASE i % 3 WHEN 0 THEN 'select one, selected; select' WHEN 1 THEN 'no "word"' END,
  (i * 37 % 101) / 4.0, CASE WHEN i % 6 = 0 THEN NULL WHEN i % 6 = 1 THEN -i / 3.0 ELSE i * 1.5e-3 END, i / 8.0, date '2024-01-01' + i * 3,
  timestamp '2024-05-01 10:00:00' + i * interval '7 hours', json_build_object('b', i, 'a', i % 2), CASE WHEN i % 4 > 0 THEN 't' || i % 3 END
FROM generate_series(1, 40) i;
INSERT INTO badges SELECT i, i % 9, 'b' || i % 4, CASE WHEN i % 3 > 0 THEN ARRAY[i, NULL, i % 2] END FROM generate_series(1, 20) i;
