INSERT INTO d VALUES (1,'1 year',1),(2,'5 days',1),(3,'1 mon',2),(4,'24:00',2),(5,NULL,1);
INSERT INTO f VALUES (1,'1 year'),(2,'1 day'),(3,'5 days');
INSERT INTO b VALUES ('1 day',1),('24:00',2),('1 day',1);
INSERT INTO e VALUES (1, '1 day', '{1 day,1 mon}'), (2, '24:00', '{24:00,30 days}'), (3, '30 days', '{}'), (4, '1 mon', NULL), (5, '-1 day', '{NULL,24:00}');
INSERT INTO w VALUES ('{1 day}', 1), ('{24:00}', 2), ('{1 day}', 1), ('{24:00}', 1);
