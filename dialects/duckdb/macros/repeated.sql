CREATE MACRO pg.repeated(s, n) AS
CASE WHEN n IS NOT NULL THEN repeat(s, greatest(n, 0)) END
