CREATE MACRO pg_quotient_shown(t, r, below) AS
CONCAT(CASE WHEN below AND t <> '0' THEN '-' ELSE '' END, CASE WHEN r = 0 THEN t ELSE pg_pointed(LPAD(t,
GREATEST(LENGTH(t), r + 1), '0'), r) END)
