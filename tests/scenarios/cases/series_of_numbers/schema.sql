CREATE TABLE t (id int PRIMARY KEY, a numeric(10,2), b numeric(8,4), n int, ok boolean, s text);
