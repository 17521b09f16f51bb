CREATE TABLE t (id int PRIMARY KEY, iv interval, x text, a text[], i2 smallint, i4 int, i8 bigint, z timestamptz, j jsonb);
CREATE TABLE u (id int PRIMARY KEY, iv interval, x text);
