CREATE MACRO pg.divide(a, b) AS
pg.refine(a, b, CAST(CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) AS DECIMAL(38,8)))
