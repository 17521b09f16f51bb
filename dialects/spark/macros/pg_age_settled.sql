CREATE MACRO pg_age_settled(m, d, u, month) AS
pg_interval(CASE WHEN d < 0 THEN m - 1 ELSE m END, CASE WHEN d < 0 THEN d + month ELSE d END, u)
