CREATE MACRO pg.json_equal(a, b) AS
CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN a = b OR pg.json_norm(a) = pg.json_norm(b) END
