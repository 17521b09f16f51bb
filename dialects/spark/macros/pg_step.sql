CREATE MACRO pg_step(s, d) AS
ABS((s['months'] * CAST(d AS BIGINT) + s['days']) * 86400000000 + s['micros'])
