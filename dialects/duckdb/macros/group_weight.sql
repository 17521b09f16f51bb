CREATE MACRO pg.group_weight(n, s) AS
CASE WHEN n = 0 THEN 0 ELSE pg.floor_div(len(CAST(n AS VARCHAR)) - s - 1, 4) END
