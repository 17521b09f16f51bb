CREATE MACRO pg_interval_settled(m, d, s, u) AS
pg_interval(CAST(m AS INT), CAST(d + pg_trunc(s / 86400) AS INT), CAST(RINT(u + (s - pg_trunc(s / 86400) *
86400) * 1e6) AS BIGINT))
