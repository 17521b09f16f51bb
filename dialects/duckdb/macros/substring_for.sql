CREATE MACRO pg.substring_for(s, a, n) AS
CASE WHEN a IS NOT NULL AND n IS NOT NULL THEN substring(s, greatest(a, 1), greatest(a + n - greatest(a, 1),
0)) END
