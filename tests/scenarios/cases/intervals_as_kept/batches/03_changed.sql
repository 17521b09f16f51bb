UPDATE t SET i = '24:00', il = '{24:00}', b = 'a   ' WHERE id = 1; INSERT INTO u VALUES (4, '1 day'); UPDATE t SET i = '720:00' WHERE id = 6;
