DELETE FROM doc WHERE kind = 'z';
DELETE FROM link WHERE note = 'chain' AND src = 23;
TRUNCATE link;
INSERT INTO link VALUES (1, 2, 3, 'a'), (2, 3, 4, 'b'), (3, 1, 5, 'c'), (NULL, 1, NULL, NULL);
INSERT INTO doc SELECT 300 + i, 'x', '[{"k": "wifi"}, [1, 2]]', NULL, 'ab', '1 hour', '2025-03-05', now(), '2025-01-01', '01:00', 'z', 1, 'q', 'NaN' FROM generate_series(1, 4) i;
