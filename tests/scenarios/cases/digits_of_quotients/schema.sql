CREATE TABLE n (id int PRIMARY KEY, g int, a numeric(20,4), b numeric(12,2), c int, d bigint, e numeric(30,9), f smallint, h numeric(6,6));
