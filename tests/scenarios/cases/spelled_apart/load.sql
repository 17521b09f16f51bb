INSERT INTO "Order Items" SELECT i, i % 3 FROM generate_series(1, 8) i;
INSERT INTO v SELECT i, i % 4, ARRAY[i, i % 4, NULL], ARRAY['a' || i, NULL, 'b c'] FROM generate_series(1, 12) i;
INSERT INTO k SELECT i, jsonb_build_object('o', jsonb_build_object('b', i, 'aa', i % 3, 'it''s', 'q', '', i), 'a''b', 'p' || i, 'e', jsonb_build_array(i, 1.50)), 'e' FROM generate_series(1, 6) i;
INSERT INTO k VALUES (10, '[{"b": 1, "aa": 2.50, "a\"c": "q"}, 123456789012345678901234567890123456789012345678901234567890, 1e100, 0.0000001]', 'o'),
  (11, '{"o": null, "x\"y": {"zz": [], "y": {}}, "000001a": "\"000001b\""}', '000001a'), (12, '"scalar"', 'o'), (13, NULL, NULL), (14, '{"k": "a:b", "l": ": "}', 'k');
INSERT INTO spans VALUES (1, '1 day -02:00', '{1 day -02:00, NULL, 1 mon}', '{10:00, NULL, 23:59:59.5}'), (2, NULL, NULL, NULL), (3, '-1 mon', '{}', '{}');
INSERT INTO num SELECT i, i % 3, (ARRAY[0.001220703125, 0.8095912933349609, -0.0205, 1e-5, 123456789, 1e15, 0, 6.03961325396085e-14, 6e-7, 2.5])[i],
  (ARRAY[0.0205, 34499482, 1.5, -1e-7, 2e6, 283074368, 0.1, 1e10, 100, 0.25])[i]::real, i * 37, i * 4e12, ARRAY[0.615, 0, 1e-05 * i], ARRAY[true, NULL, i > 3], i
FROM generate_series(1, 10) i;
INSERT INTO misc SELECT i, i % 3, (ARRAY['ab', E'ab\n', 'É', 'é', 'a&b', 'x{y}', '[z]', '{', 'tab', 'x.y', 'ab' || chr(10) || 'ab', 'a\b'])[i], upper(md5(i::text)), md5(i::text)::uuid,
  date '2024-01-29' + i, date '2024-02-15' + i, timestamp '2024-03-30 00:30' + i * interval '1 hour', timestamptz '2024-07-01 12:00+00' + i * interval '40 days',
  (ARRAY['sad', 'ok', 'glad'])[1 + i % 3]::mood, decode(repeat(md5(i::text), i), 'hex') FROM generate_series(1, 12) i;
INSERT INTO o (id, o, j) VALUES (1, 4, '{"a": 1.50, "b": 2}'), (2, 5, jsonb_build_object('a', 1.50, 'long', repeat('abcdefgh ', 900), 'quotes', repeat('"', 300), 'b', 2));
INSERT INTO turns VALUES (1, '1 mon', 1), (2, '30 days', 2), (3, '720 hours', 3), (4, NULL, 4), (5, '1 day', 5);
INSERT INTO misc (id, g, s) VALUES (20, 7, 'ΟΔΥΣΣΕΥΣ Σ'), (21, 7, 'İstanbul');
UPDATE o SET raw = '{"w": 1.2345678901234567e-05, "x": [1.50, -2E+3], "k": "a"}';
