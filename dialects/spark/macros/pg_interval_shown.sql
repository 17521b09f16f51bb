CREATE MACRO pg_interval_shown(m, d, u) AS
CASE WHEN m = 0 AND d = 0 AND u = 0 THEN '00:00:00' ELSE RTRIM(CONCAT(pg_part(CAST(m DIV 12 AS INT), ' year',
0), pg_part(m % 12, ' mon', CAST(m DIV 12 AS INT)), pg_part(d, ' day', m), CASE WHEN u = 0 THEN '' WHEN u < 0
THEN '-' WHEN d < 0 OR d = 0 AND m < 0 THEN '+' ELSE '' END, CASE WHEN u = 0 THEN '' ELSE pg_clock(ABS(u))
END)) END
