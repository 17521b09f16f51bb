CREATE TABLE a (id int PRIMARY KEY, r real, d double precision, n numeric, n8 numeric(20,8), n2 numeric(12,2), day date, at timestamp, j json, t text);
