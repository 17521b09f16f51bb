CREATE MACRO pg.pad_right(s, n, f) AS
CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN length(s) >= n OR f = '' THEN left(s, greatest(n, 0)) ELSE
rpad(s, n, f) END
