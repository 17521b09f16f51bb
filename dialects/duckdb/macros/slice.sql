CREATE MACRO pg.slice(l, a, b) AS
CASE WHEN b < greatest(a, 1) THEN l[1:0] WHEN a IS NOT NULL AND b IS NOT NULL THEN l[greatest(a, 1):b] END
