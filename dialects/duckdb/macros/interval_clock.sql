CREATE MACRO pg.interval_clock(u) AS
printf('%02d:%02d:%02d', u // 3600000000, u // 60000000 % 60, u // 1000000 % 60) || CASE WHEN u % 1000000 = 0
THEN '' ELSE '.' || rtrim(printf('%06d', u % 1000000), '0') END
