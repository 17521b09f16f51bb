CREATE TABLE a (id int PRIMARY KEY, g int, t text, r real, d double precision, rs real[]);
