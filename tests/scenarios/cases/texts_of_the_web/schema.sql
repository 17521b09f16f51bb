CREATE TABLE s (id int PRIMARY KEY, v text, j jsonb);
