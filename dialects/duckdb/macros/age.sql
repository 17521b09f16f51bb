CREATE MACRO pg.age(a, b) AS
age(a, b)
