INSERT INTO nums SELECT g, CASE g % 6 WHEN 0 THEN NULL WHEN 1 THEN g / 3.0 WHEN 2 THEN -0.0001 WHEN 3 THEN g ELSE g / 100.0 END,
  CASE g % 5 WHEN 0 THEN NULL WHEN 1 THEN 0 ELSE g / 100.0 END, g % 9, CASE g % 4 WHEN 0 THEN 100000 + g ELSE g % 9 END,
  CASE g % 7 WHEN 0 THEN 5000000000 + g ELSE g % 9 END FROM generate_series(1, 60) g;
INSERT INTO codes SELECT g, (ARRAY['x', 'ab', 'abcd', '', NULL, 'y '])[g % 6 + 1], g % 3 FROM generate_series(1, 18) g;
INSERT INTO names SELECT g, (ARRAY['x', 'ab ', 'abcd', '', 'x  ', NULL, 'y'])[g % 7 + 1], (ARRAY['x', 'ab ', 'abcd', '', 'x  ', 'y'])[g % 6 + 1],
  g % 4 FROM generate_series(1, 21) g;
