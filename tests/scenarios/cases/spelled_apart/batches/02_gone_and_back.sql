BEGIN;
DELETE FROM v; DELETE FROM k; DELETE FROM num; DELETE FROM misc; DELETE FROM spans;
COMMIT;
INSERT INTO v VALUES (1, 2, '{2}', '{x}');
INSERT INTO k VALUES (1, '{"a''b": 1.0, "o": {"b": [1.10, {"zz": 1, "y": 2}], "aa": 2}}', 'o');
INSERT INTO num VALUES (1, 1, 0.205, 0.205, 300, 12.5, '{0.5}', '{f}', 3);
INSERT INTO misc VALUES (1, 1, 'ab', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2024-01-31', '2024-03-01', '2024-03-31', '2024-03-31 12:00+00', 'glad', '\x00ff');
UPDATE turns SET iv = '24 hours' WHERE id = 3;
DELETE FROM o WHERE id = 1;
