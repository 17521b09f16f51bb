CREATE MACRO pg.group_first(n, s) AS
CASE WHEN n = 0 THEN 0 ELSE CAST(rpad(CAST(n AS VARCHAR), CAST(len(CAST(n AS VARCHAR)) - s - 4 *
pg.group_weight(n, s) AS INTEGER), '0') AS INTEGER) END
