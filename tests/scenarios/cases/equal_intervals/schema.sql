CREATE TABLE d (id int PRIMARY KEY, s interval, g int);
CREATE TABLE f (g int PRIMARY KEY, t interval);
CREATE TABLE b (s interval, n int);
ALTER TABLE b REPLICA IDENTITY FULL;
