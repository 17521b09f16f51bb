CREATE MACRO pg.interval_shown(m, d, u) AS
CASE WHEN m = 0 AND d = 0 AND u = 0 THEN '00:00:00' ELSE rtrim(pg.interval_part(m // 12, ' year', 0) ||
pg.interval_part(m % 12, ' mon', m // 12) || pg.interval_part(d, ' day', m) || CASE WHEN u = 0 THEN '' WHEN u
< 0 THEN '-' WHEN d < 0 OR d = 0 AND m < 0 THEN '+' ELSE '' END || CASE WHEN u = 0 THEN '' ELSE
pg.interval_clock(abs(u)) END, ' ') END
