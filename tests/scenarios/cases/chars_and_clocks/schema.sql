CREATE TABLE codes (id int PRIMARY KEY, c char(5), b bpchar, v varchar(5), t text, ca char(5)[], ta text[], doc jsonb);
CREATE TABLE seen (id int PRIMARY KEY, code char(3), z timestamptz, i interval);
