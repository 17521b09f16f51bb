INSERT INTO doctor SELECT i, 'dr ' || i, CASE WHEN i > 2 THEN i / 2 END, i % 4, CASE WHEN i % 3 > 0 THEN 1000.50 * (i % 4) END, i / 2.0, date '2024-01-01' + i, i % 3, i * interval '1 hour', ARRAY['cut'] FROM generate_series(1, 12) i;
INSERT INTO visit SELECT p, 7, p % 13, p % 4, timestamp '2026-06-01' + p * interval '1 hour', p % 10, p % 3, 'talk', p % 2 = 0, '1 day', '{"sev":9}' FROM generate_series(20, 60) p ON CONFLICT DO NOTHING;
INSERT INTO med VALUES ('asp', 1, 'med 1', 5, 1, NULL), ('mor', 2, NULL, 7.5, 2, '2026-12-12');
INSERT INTO rx SELECT i % 40, 7, 'asp', 1, i % 3, 0.25 * i, date '2026-03-01' + i % 5 FROM generate_series(1, 50) i;
INSERT INTO road VALUES (1, 2, 3, NULL), (2, 3, 4, NULL), (3, 1, 5, NULL), (3, 4, NULL, NULL), (4, 5, 1, '2026-01-01'), (4, 5, 1, '2026-01-01');
BEGIN; UPDATE ward SET id = 9000 WHERE id = 5; UPDATE ward SET id = 5 WHERE id = 6; UPDATE ward SET id = 6 WHERE id = 9000; COMMIT;
