CREATE MACRO pg_quotient_of(n, d, s, t, below) AS
pg_quotient_placed(CAST(n * pg_tens(t - s) AS DECIMAL(38,0)), CAST(d * pg_tens(s - t) AS DECIMAL(38,0)),
pg_quotient_scale(n, d, s, t), below)
