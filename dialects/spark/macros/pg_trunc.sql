CREATE MACRO pg_trunc(x) AS
CASE WHEN x < 0 THEN pg_ceil(x) ELSE pg_floor(x) END
