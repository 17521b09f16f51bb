-- a float as a numeric shows it
CREATE MACRO pg_float_digits(x) AS
pg_trimmed(pg_number_plain(pg_exact(x + 0)))
