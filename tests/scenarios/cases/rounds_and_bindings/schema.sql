CREATE TABLE emp (id int PRIMARY KEY, manager_id int, salary numeric(8,2), name text);
CREATE TABLE ord (id int PRIMARY KEY, customer int, placed timestamptz NOT NULL, total numeric(8,2));
CREATE TABLE line (ord int, no int, amount numeric(8,2), share float8, PRIMARY KEY (ord, no));
