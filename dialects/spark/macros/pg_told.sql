-- whether a text is no halfway mark between two numbers, which Postgres does not take for either
CREATE MACRO pg_told(x, t) AS
TRY_CAST(t AS DOUBLE) = x AND COALESCE(ABS(x) < 1e16 OR TRY_CAST(CAST(pg_beyond(x, t) AS DOUBLE) AS BIGINT) <>
pg_beyond(x, t) OR pg_beyond(x, t) = TRY_CAST(x AS BIGINT), TRUE)
