CREATE MACRO pg.nearest(n, s) AS
CASE WHEN n >= 0 THEN (n + s // 2) // s * s ELSE -((-n + s // 2) // s * s) END
