CREATE MACRO pg.interval_part(n, one, before) AS
CASE WHEN n = 0 THEN '' ELSE CASE WHEN n > 0 AND before < 0 THEN '+' ELSE '' END || n || one || CASE WHEN n =
1 THEN ' ' ELSE 's ' END END
