CREATE MACRO pg.between(a, b) AS
a - b
