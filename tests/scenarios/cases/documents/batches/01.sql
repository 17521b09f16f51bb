INSERT INTO doc (id, kind, body, words, took, at, tier, "Mixed Case") VALUES (101, 'x', '[{"k": "wifi", "n": 7}]', 'caab', '36 hours', '2025-03-02 01:00', 'c', 2),
  (102, 'y', '"text"', NULL, '1 day 12 hours', NULL, NULL, NULL), (103, 'w', 'null', 'aba', '2 mons', '2025-03-02 03:00', 'ab', 3);
UPDATE doc SET body = '{"a": [{"b": [1]}]}', took = took + '1 hour' WHERE id % 7 = 0;
DELETE FROM doc WHERE id IN (5, 10);
DELETE FROM link WHERE src = 3 AND dst = 4;
INSERT INTO link VALUES (1, 2, 9, 'new'), (2, 1, 9, NULL);
