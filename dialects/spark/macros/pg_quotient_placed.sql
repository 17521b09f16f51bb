CREATE MACRO pg_quotient_placed(n, d, r, below) AS
pg_quotient_shown(CAST(pg_quotient_digits(n, d, r) AS STRING), r, below)
