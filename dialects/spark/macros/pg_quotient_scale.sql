CREATE MACRO pg_quotient_scale(n, d, s, t) AS
GREATEST(16 - 4 * (pg_group_weight(n, s) - pg_group_weight(d, t) - CASE WHEN pg_group_first(n, s) <=
pg_group_first(d, t) THEN 1 ELSE 0 END), s, t)
