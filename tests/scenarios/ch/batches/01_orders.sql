SELECT setseed(0.21);
SELECT place_order(1 + k % 2, 1 + k % 3, 1 + (k * 5) % 30, timestamp '2026-03-01' + k * interval '1 hour') FROM generate_series(1, 12) k;
SELECT place_order(2, 2, 4, '2026-03-02 12:00');
