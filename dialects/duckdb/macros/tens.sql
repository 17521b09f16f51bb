CREATE MACRO pg.tens(k) AS
CAST('1' || repeat('0', greatest(k, 0)) AS HUGEINT)
