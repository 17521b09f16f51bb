DELETE FROM a; INSERT INTO a VALUES (1, 1, 'd c', '["d","c"]', '{"y": 1, "x": 2}', '{9,8,7}');
