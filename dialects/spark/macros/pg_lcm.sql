CREATE MACRO pg_lcm(x, y) AS
CASE WHEN x = 0 OR y = 0 THEN 0 ELSE ABS(CAST(x AS BIGINT) DIV pg_gcd(x, y) * y) END
