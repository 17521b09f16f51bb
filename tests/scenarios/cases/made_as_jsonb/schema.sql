CREATE TABLE posts (id int PRIMARY KEY, owner int, title varchar(40), body text, score numeric(8,2), ratio float8, part real, posted date,
                    at timestamp, doc json, tag char(6));
CREATE TABLE badges (id int PRIMARY KEY, owner int, name char(8), marks int[]);
