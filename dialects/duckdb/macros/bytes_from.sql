CREATE MACRO pg.bytes_from(s, a) AS
CASE WHEN a IS NOT NULL THEN s[greatest(a, 1):] END
