CREATE MACRO pg.real_told(t, x) AS
CAST(t AS FLOAT) = x AND (CAST(t AS DOUBLE) = x OR coalesce(TRY_CAST(2 * CAST(t AS DOUBLE) - x AS FLOAT) <> 2
* CAST(t AS DOUBLE) - x, TRUE))
