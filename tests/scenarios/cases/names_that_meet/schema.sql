CREATE TABLE price_log (id int PRIMARY KEY, price int, old_price int, key_price int, again_price int, c text, v int, at timestamp, k int, price_u2 int, "In_v" int);
