SELECT setseed(0.11);
INSERT INTO region VALUES (1, 'Europe'), (2, 'Asia'), (3, 'America');
INSERT INTO nation SELECT 65 + k, (ARRAY['Germany', 'France', 'Cambodia', 'Chile', 'Norway'])[1 + k % 5] || CASE WHEN k < 5 THEN '' ELSE ' ' || k END,
    1 + k % 3 FROM generate_series(0, 25) k;
INSERT INTO supplier SELECT k, 'Supplier ' || k, 'street ' || k, 65 + k % 26, '0' || k, CASE WHEN k % 17 = 0 THEN 'bad' ELSE 'good' END || ' supplier'
  FROM generate_series(0, 200) k;
INSERT INTO warehouse SELECT w, 'W' || w, 300000 FROM generate_series(1, 2) w;
INSERT INTO district SELECT w, d, 'D' || d, 30000, 1 FROM generate_series(1, 2) w, generate_series(1, 3) d;
INSERT INTO customer SELECT w, d, c, 'Last' || c % 13, 'City ' || c % 7, chr(65 + (c * 7 + d) % 26) || chr(65 + c % 26), (c * 37 + w) % 9 || '555' || c,
    ((c * 91 + d * 7) % 400) - 100, 10, 1, 0 FROM generate_series(1, 2) w, generate_series(1, 3) d, generate_series(1, 30) c;
INSERT INTO item SELECT i, 'item ' || i, 1 + (i * 13 % 99), (ARRAY['PRomo', 'coal', 'zz top', 'plain', 'corn'])[1 + i % 5] || i || (ARRAY['a', 'b', 'BB', 'c'])[1 + i % 4]
  FROM generate_series(1, 100) i;
INSERT INTO stock SELECT w, i, 10 + (i * 7 + w) % 90, 0, 0 FROM generate_series(1, 2) w, generate_series(1, 100) i;
SELECT place_order(1 + k % 2, 1 + k % 3, 1 + (k * 7) % 30, timestamp '2026-01-01' + k * interval '3 hours') FROM generate_series(1, 240) k;
SELECT deliver(1 + k % 2, 1 + k % 10, timestamp '2026-02-10' + k * interval '5 hours') FROM generate_series(1, 60) k;
SELECT pay(1 + k % 2, 1 + k % 3, 1 + (k * 11) % 30, (5 + k % 50)::numeric, timestamp '2026-02-01' + k * interval '2 hours') FROM generate_series(1, 80) k;
