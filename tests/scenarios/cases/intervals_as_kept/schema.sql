CREATE TABLE t (id int PRIMARY KEY, g int, i interval, il interval[], c char(4), b text);
CREATE TABLE u (id int PRIMARY KEY, i interval);
