CREATE TABLE rooms (id int PRIMARY KEY, name text, seasons daterange);
CREATE TABLE bookings (id int PRIMARY KEY, room int, guest text, during tsrange, valid tstzrange, price numrange, seats int4range);
CREATE TABLE tariffs (id int PRIMARY KEY, days daterange, seats int4range, price numeric(8,2));
CREATE TABLE visits (room int, at timestamp, day date, until date);
ALTER TABLE visits REPLICA IDENTITY FULL;
