CREATE TABLE bids (id int PRIMARY KEY, broker_id int, volume numeric(12,2), price numeric(12,2));
CREATE TABLE asks (id int PRIMARY KEY, broker_id int, volume numeric(12,2), price numeric(12,2));
