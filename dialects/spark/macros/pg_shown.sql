CREATE MACRO pg_shown(x, t, most) AS
CASE WHEN ISNAN(x) OR ABS(x) = DOUBLE('Infinity') THEN t WHEN x = 0 THEN CASE WHEN t LIKE '-%' THEN '-0' ELSE
'0' END ELSE CONCAT(CASE WHEN x < 0 THEN '-' ELSE '' END, CASE WHEN pg_exponent(x, t) < -4 OR pg_exponent(x,
t) >= most THEN pg_powered(pg_digits(t), pg_exponent(x, t)) ELSE pg_plain(pg_digits(t), pg_exponent(x, t))
END) END
