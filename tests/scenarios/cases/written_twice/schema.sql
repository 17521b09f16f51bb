CREATE TABLE customer (id int PRIMARY KEY, tier text, city text, balance numeric(10,2));
CREATE TABLE orders (id int PRIMARY KEY, customer_id int, status text);
CREATE TABLE line (order_id int, no int, amount numeric(10,2), PRIMARY KEY (order_id, no));
