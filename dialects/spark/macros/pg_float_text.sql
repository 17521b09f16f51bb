CREATE MACRO pg_float_text(x) AS
pg_shown(x, pg_shortest(x, CAST(x AS STRING)), 15)
