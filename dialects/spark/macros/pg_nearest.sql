CREATE MACRO pg_nearest(n, s) AS
CASE WHEN n >= 0 THEN (n + s DIV 2) DIV s * s ELSE -((-n + s DIV 2) DIV s * s) END
