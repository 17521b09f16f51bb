CREATE MACRO pg.jsonb(x) AS
x
