CREATE MACRO pg_age_borrowed(m, d, u, month) AS
pg_age_settled(m, CASE WHEN u < 0 THEN d - 1 ELSE d END, CASE WHEN u < 0 THEN u + 86400000000 ELSE u END,
month)
