-- a · b to 18 digits after the point, h being b to so few that a · h has no more: the rest is small
CREATE MACRO pg.times(a, b, h) AS
CAST(a * h AS DECIMAL(38,18)) + CAST(a * (b - h) AS DECIMAL(38,18))
