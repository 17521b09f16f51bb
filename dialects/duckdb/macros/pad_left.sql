CREATE MACRO pg.pad_left(s, n, f) AS
CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN length(s) >= n OR f = '' THEN left(s, greatest(n, 0)) ELSE
lpad(s, n, f) END
