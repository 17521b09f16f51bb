CREATE MACRO pg_part(n, one, before) AS
CASE WHEN n = 0 THEN '' ELSE CONCAT(CASE WHEN n > 0 AND before < 0 THEN '+' ELSE '' END, CAST(n AS STRING),
one, CASE WHEN n = 1 THEN ' ' ELSE 's ' END) END
