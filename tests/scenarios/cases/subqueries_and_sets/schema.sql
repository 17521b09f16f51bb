CREATE TABLE a (id int PRIMARY KEY, x int, y int, s text, d date, ts timestamp, arr int[], arr2 text[], j jsonb, iv interval, n numeric(10,2));
CREATE TABLE b (id int PRIMARY KEY, a_id int, z int, w text, ts timestamp);
