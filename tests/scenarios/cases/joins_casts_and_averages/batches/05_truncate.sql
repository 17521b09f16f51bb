TRUNCATE rx;
INSERT INTO rx VALUES (1, 1, 'asp', 1, 1, 1, '2026-03-01'), (1, 1, 'asp', 1, 1, 1, '2026-03-01'), (30, 2, NULL, NULL, NULL, NULL, NULL), (31, 1, 'mor', 2, 4, 2.5, '2026-03-03');
UPDATE visit SET urgent = CASE WHEN urgent IS NULL THEN false WHEN urgent THEN NULL ELSE true END, did = CASE WHEN did IS NULL THEN 3 WHEN did % 3 = 0 THEN NULL ELSE did END;
UPDATE patient SET weight = CASE WHEN weight IS NULL THEN 50 WHEN id % 3 = 0 THEN NULL ELSE weight END, height = NULL WHERE id % 2 = 1;
UPDATE ward SET parent = NULL WHERE parent = 1; UPDATE ward SET parent = 14 WHERE id = 1; UPDATE ward SET parent = 1 WHERE id = 14;
DELETE FROM audit; 
UPDATE reading SET ok = NOT ok, val = CASE WHEN val IS NULL THEN 1.5 WHEN pid % 4 = 0 THEN NULL ELSE val END;
