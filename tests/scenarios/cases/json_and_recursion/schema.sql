CREATE TABLE o (id int PRIMARY KEY, c int, city text, amount numeric(10,2), f float8, at timestamptz, ts timestamp, d date, b boolean, j jsonb, tags text[]);
CREATE TABLE w (k int PRIMARY KEY, up int, name text);
