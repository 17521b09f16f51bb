CREATE TABLE t (id int PRIMARY KEY, p int, ts timestamp, tz timestamptz, d date);
