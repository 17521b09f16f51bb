INSERT INTO t VALUES (1, 1, '1 day', '{1 day}', 'a', 'a '), (3, 2, '2 days', '{2 days,NULL}', 'b', 'b'), (4, 2, NULL, NULL, NULL, NULL);
INSERT INTO u VALUES (1, '24:00'), (2, '48:00'), (3, '1 mon');
