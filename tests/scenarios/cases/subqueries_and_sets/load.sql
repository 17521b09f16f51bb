INSERT INTO a SELECT i, nullif(i % 7, 6), (i * 37) % 11 - 3, (ARRAY['red', 'green', 'blue', NULL, 'a1 b2', 'x,y'])[i % 6 + 1],
    date '2024-01-01' + (i * 13) % 90, timestamp '2024-01-01' + i * interval '7 hours 3 seconds',
    CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY[i % 4, i % 3, NULLIF(i % 6, 2)] END,
    CASE i % 4 WHEN 0 THEN NULL ELSE ARRAY['p' || i % 3, 'q'] END,
    jsonb_build_object('k', i % 4, 'items', jsonb_build_array(jsonb_build_object('k', i % 3, 'n', 'v' || i % 2))),
    CASE i % 6 WHEN 0 THEN NULL ELSE (i % 40) * interval '1 hour 20 minutes' + (i % 3) * interval '1 day' END, (i * 17 % 1000) / 10.0
  FROM generate_series(1, 60) i;
INSERT INTO b SELECT i, (i * 7) % 70 + 1, (i * 31) % 13 - 4, 'w' || i % 5, timestamp '2024-02-01' + i * interval '5 hours' FROM generate_series(1, 90) i;
