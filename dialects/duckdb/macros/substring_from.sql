CREATE MACRO pg.substring_from(s, a) AS
CASE WHEN a IS NOT NULL THEN substring(s, greatest(a, 1)) END
