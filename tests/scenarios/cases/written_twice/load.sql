INSERT INTO customer SELECT n, (ARRAY['gold', 'silver', 'tin'])[n % 4], (ARRAY['Oslo', 'Rome', 'Lima', 'Kyiv', 'Bonn'])[n % 5 + 1], n * 13.5 FROM generate_series(1, 20) n;
INSERT INTO orders SELECT n, NULLIF(n * 7 % 24, 0), (ARRAY['open', 'paid', 'sent'])[n % 3 + 1] FROM generate_series(1, 60) n;
INSERT INTO line SELECT o, n, o * n * 1.25 FROM generate_series(1, 60, 2) o, generate_series(1, 3) n;
