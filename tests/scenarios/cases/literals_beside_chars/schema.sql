CREATE TABLE t (id int PRIMARY KEY, c char(5), d char(3), b bpchar, v varchar(6), x text);
CREATE TABLE u (id int PRIMARY KEY, c char(4), n int);
