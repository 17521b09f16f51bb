BEGIN; DELETE FROM visit WHERE wid IN (1, 2, 3) OR wid IS NULL; DELETE FROM doctor; DELETE FROM med; UPDATE patient SET insurer = NULL WHERE insurer = 'red'; COMMIT;
DELETE FROM road; INSERT INTO audit VALUES (7, 'seven', 7, NULL, NULL);
DELETE FROM ledger WHERE id > 30;
