CREATE TABLE t (id int PRIMARY KEY, g int NOT NULL, share numeric(4,4), b bytea, big bigint);
CREATE TABLE u (id int PRIMARY KEY, g int, v int);
