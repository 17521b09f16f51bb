INSERT INTO a VALUES (7, 3, 'q w e r t y', '["d","c"]', '{"y": 1, "x": 2}', '{9,8,7}'); UPDATE a SET j = '["y","x","w"]', x = '{3,2,1}' WHERE id = 2; DELETE FROM a WHERE id = 5;
