CREATE MACRO pg_real_digits(x) AS
pg_trimmed(pg_number_plain(pg_exact_real(x + 0)))
