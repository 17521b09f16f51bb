UPDATE l SET e = e || '{"b": [1]}', v = 'v1', i = i + interval '1 day' WHERE k % 4 = 1;
DELETE FROM l WHERE k % 5 = 0;
INSERT INTO l (k, v, s, e) VALUES (20, 'v', 's', '{"zz": 1, "y": 2}')
