BEGIN;
SELECT setseed(0.41);
SELECT deliver(1 + k % 2, 1 + k % 10, timestamp '2026-03-05' + k * interval '1 hour') FROM generate_series(1, 8) k;
SELECT place_order(1 + k % 2, 3, 1 + k, timestamp '2026-03-05' + k * interval '30 minutes') FROM generate_series(1, 6) k;
COMMIT;
UPDATE item SET i_price = i_price + 1, i_data = replace(i_data, 'PR', 'pr') WHERE i_id % 10 = 0;
