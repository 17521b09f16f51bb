UPDATE nums SET n = m, l = i WHERE id % 5 = 2; UPDATE nums SET m = 1.25 WHERE id % 7 = 0; INSERT INTO nums VALUES (70, 1234.5678, 12.30, 3, 32768, 3);
INSERT INTO names VALUES (30, 'x ', 'x ', 1), (31, 'abcd  ', 'abcd', 2); UPDATE codes SET c = 'q' WHERE id = 4; UPDATE names SET v = 'q  ' WHERE id = 5;
INSERT INTO nums VALUES (90, 1, 1, 32767, 2147483647, 9223372036854775807), (91, 1, 1, -32768, -2147483648, -9223372036854775808);
