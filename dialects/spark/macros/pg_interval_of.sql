CREATE MACRO pg_interval_of(m, d, u) AS
pg_interval_carried(pg_trunc(m), pg_trunc(d), pg_rounded((m - pg_trunc(m)) * 30), d - pg_trunc(d), u)
