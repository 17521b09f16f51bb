CREATE TYPE mood AS ENUM ('sad','ok','happy');
CREATE TABLE a (id int PRIMARY KEY, x int, s smallint, n numeric, m numeric(12,2), t text, ch char(5), f4 real, f8 float8, md mood, j jsonb, ia int[], ta text[], by bytea, d date, ts timestamp, b boolean);
CREATE TABLE b (id int PRIMARY KEY, x int, y int, t text);
