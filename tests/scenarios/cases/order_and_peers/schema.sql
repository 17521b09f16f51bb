CREATE TABLE t (id int PRIMARY KEY, a int, b int, k text, w numeric(12,2), iv interval, j jsonb, bi bigint);
CREATE TABLE u (id int PRIMARY KEY, a int, b int);
CREATE TABLE z (id int PRIMARY KEY, k text, b int);
CREATE TABLE n1 (ship int, x int, PRIMARY KEY (ship, x));
CREATE TABLE n2 (ship int PRIMARY KEY, y int);
CREATE TABLE n3 (ship int PRIMARY KEY, v int);
