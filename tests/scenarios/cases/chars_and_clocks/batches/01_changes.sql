UPDATE codes SET b = 'abc ' WHERE id = 4;
UPDATE codes SET ca = '{"x ",ab}', c = 'ab   ' WHERE id = 2;
UPDATE codes SET ca = NULL, doc = '{"z": 1}' WHERE id = 1;
INSERT INTO codes VALUES (6, 'x ', 'x', 'x ', 'x', '{x}', '{"x "}', '{"q": 1, "k": 2}');
UPDATE seen SET z = z + interval '1 hour', code = 'x' WHERE id BETWEEN 4 AND 9;
DELETE FROM seen WHERE id % 5 = 0;
