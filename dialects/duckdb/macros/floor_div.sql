CREATE MACRO pg.floor_div(a, b) AS
a // b - CASE WHEN a % b < 0 THEN 1 ELSE 0 END
