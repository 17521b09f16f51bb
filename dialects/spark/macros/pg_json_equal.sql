CREATE MACRO pg_json_equal(a, b) AS
CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN a = b OR pg_json_norm(a) = pg_json_norm(b) END
