CREATE MACRO pg_between(a, b) AS
pg_interval(0, CAST((a - b) DIV 86400000000 AS INT), (a - b) % 86400000000)
