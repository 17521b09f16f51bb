CREATE MACRO pg.contains_all(a, b) AS
CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN list_has_all(a, b) AND len(b) = list_count(b) END
