INSERT INTO t VALUES (2, 1, '24:00', '{24:00}', 'none', 'a'), (5, 2, '48:00', '{48:00,NULL}', 'a', 'b   '), (6, 3, '30 days', '{}', NULL, 'a  ');
