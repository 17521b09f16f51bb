CREATE TABLE a (id int PRIMARY KEY, b int, t text, arr int[]);
CREATE TABLE p (id int PRIMARY KEY, b int);
CREATE TABLE q (b int, n int);
ALTER TABLE q REPLICA IDENTITY FULL;
