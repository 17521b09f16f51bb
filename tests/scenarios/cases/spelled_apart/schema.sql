CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad');
CREATE TABLE "Order Items" ("Item Id" int PRIMARY KEY, x int);
CREATE TABLE v (id int PRIMARY KEY, x int, arr int[], names text[]);
CREATE TABLE k (id int PRIMARY KEY, j jsonb, k text);
CREATE TABLE o (id int PRIMARY KEY, o int, j jsonb, raw json);
CREATE TABLE turns (id int PRIMARY KEY, iv interval, n int);
CREATE TABLE spans (id int PRIMARY KEY, iv interval, ivs interval[], ts time[]);
CREATE TABLE num (id int PRIMARY KEY, g int, f8 float8, f4 real, i4 int, big numeric(20,2), fa float8[], ba bool[], n5 int);
CREATE TABLE misc (id int PRIMARY KEY, g int, s text, tx text, u uuid, d date, e date, ts timestamp, tz timestamptz, m mood, b bytea);
