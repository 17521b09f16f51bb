INSERT INTO t SELECT i, i % 2, i, timestamp '2024-01-01', timestamp '2024-01-01' + i * interval '3 hours',
  (ARRAY['1 day -02:00', '22:00', '-1 day 02:00', '-22:00', '23:00'])[1 + i % 5]::interval,
  (ARRAY['{sad,ok}', '{happy}', '{zen}', '{ok}', NULL])[1 + i % 5]::mood[], jsonb_build_object('*', i, 'a*', i % 3, 'b', 'c') FROM generate_series(1, 25) i;
INSERT INTO u VALUES (1, '22:00'), (2, '-22:00'), (3, '1 day -1 hour');
