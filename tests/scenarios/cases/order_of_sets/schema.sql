CREATE TABLE a (id int PRIMARY KEY, g int, t text, j jsonb, o jsonb, x text[]);
