CREATE MACRO pg_interval_carried(m, d, r, f, u) AS
pg_interval_settled(m, d + pg_trunc(r), pg_rounded((f + r - pg_trunc(r)) * 86400), u)
