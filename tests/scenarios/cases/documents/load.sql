INSERT INTO doc SELECT i, (ARRAY['x', 'y', 'z', NULL])[i % 4 + 1],
  CASE i % 5 WHEN 0 THEN '[{"k": "wifi", "n": 1}, {"k": "tv"}]'::jsonb WHEN 1 THEN '{"a": [{"b": [1, 2]}, 3], "s": "t"}'
    WHEN 2 THEN to_jsonb(i) WHEN 3 THEN '[[1], [2, 3], "w"]' END,
  CASE WHEN i % 3 <> 0 THEN json_build_object('k', i, 'v', 'w' || i) END,
  repeat('ab', i % 3) || 'c' || repeat('a', i % 4), make_interval(days => i % 4, hours => i % 30, mins => i),
  timestamp '2025-03-01 10:00' + make_interval(hours => i * 7), timestamptz '2025-03-29 22:00+00' + make_interval(hours => i),
  date '2025-02-26' + i % 6, time '08:00' + make_interval(mins => i * 13), (ARRAY['ab', 'c', 'defg'])[i % 3 + 1], i % 6, 'n' || i % 5, i / 4.0
  FROM generate_series(1, 40) i;
INSERT INTO link SELECT i % 13, i * 7 % 17, i % 5, NULLIF('l' || i % 3, 'l0') FROM generate_series(1, 50) i;
INSERT INTO link SELECT 3, 4, 1, NULL FROM generate_series(1, 3);
