CREATE TABLE t (id int PRIMARY KEY, g int, b bigint, i int);
