-- the quotient to 8 digits from doubles, then the remainder exactly: right to 18 digits
CREATE MACRO pg.refine(a, b, q) AS
CAST(q AS DECIMAL(38,18)) + CAST(CAST(a - q * b AS DOUBLE) / CAST(b AS DOUBLE) AS DECIMAL(38,18))
