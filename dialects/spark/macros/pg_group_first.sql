CREATE MACRO pg_group_first(n, s) AS
CASE WHEN n = 0 THEN 0 ELSE CAST(RPAD(CAST(n AS STRING), LENGTH(CAST(n AS STRING)) - s - 4 *
pg_group_weight(n, s), '0') AS INT) END
