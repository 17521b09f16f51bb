CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'zen');
CREATE TABLE t (id int PRIMARY KEY, g int, n int, a timestamp, b timestamp, iv interval, m mood[], j jsonb);
CREATE TABLE u (id int PRIMARY KEY, iv interval);
