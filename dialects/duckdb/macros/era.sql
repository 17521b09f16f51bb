CREATE MACRO pg.era(s) AS
CASE WHEN contains(s, ' (BC)') THEN replace(s, ' (BC)', '') || ' BC' ELSE s END
