CREATE TABLE doc (id int PRIMARY KEY, kind text, body jsonb, raw json, words text, took interval, at timestamp, seen timestamptz, day date,
  hour time, tier char(4), "Mixed Case" int, "a,b;c" text, score float8);
CREATE TABLE link (src int, dst int, weight int, note text);
ALTER TABLE link REPLICA IDENTITY FULL;
