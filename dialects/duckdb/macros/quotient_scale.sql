CREATE MACRO pg.quotient_scale(n, d, s, t) AS
greatest(16 - 4 * (pg.group_weight(n, s) - pg.group_weight(d, t) - CASE WHEN pg.group_first(n, s) <=
pg.group_first(d, t) THEN 1 ELSE 0 END), s, t)
