-- by a divisor of so many digits after the point that fewer of the quotient leave room before it
CREATE MACRO pg.divide_deep(a, b) AS
pg.refine(a, b, CAST(CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) AS DECIMAL(38,2)))
