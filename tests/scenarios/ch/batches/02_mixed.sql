SELECT setseed(0.31);
SELECT pay(1 + k % 2, 1 + k % 3, 1 + (k * 3) % 30, 17.5 + k, timestamp '2026-03-03' + k * interval '7 minutes') FROM generate_series(1, 20) k;
SELECT deliver(1, 9, '2026-03-04 08:00');
SELECT deliver(2, 2, '2026-03-04 08:30');
SELECT place_order(1, 1, 30, '2026-03-04 09:00');
