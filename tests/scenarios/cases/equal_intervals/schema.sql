CREATE TABLE d (id int PRIMARY KEY, s interval, g int);
CREATE TABLE f (g int PRIMARY KEY, t interval);
CREATE TABLE b (s interval, n int);
CREATE TABLE e (id int PRIMARY KEY, s interval, a interval[]);
CREATE TABLE w (a interval[], n int);
ALTER TABLE w REPLICA IDENTITY FULL;
ALTER TABLE b REPLICA IDENTITY FULL;
