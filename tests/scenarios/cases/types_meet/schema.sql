CREATE TABLE nums (id int PRIMARY KEY, n numeric(12,4), m numeric(8,2), s smallint, i int, l bigint);
CREATE TABLE codes (id int PRIMARY KEY, c char(4), kind int);
CREATE TABLE names (id int PRIMARY KEY, v varchar(6), t text, kind int);
