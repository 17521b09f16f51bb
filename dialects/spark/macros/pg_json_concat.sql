CREATE MACRO pg_json_concat(a, b) AS
CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN pg_json_typeof(a) = 'object' AND pg_json_typeof(b) = 'object'
THEN pg_json_object_of(pg_json_sorted(CONCAT(JSON_OBJECT_KEYS(a), JSON_OBJECT_KEYS(b))), a, b) ELSE
pg_json_array_of(CONCAT(pg_json_listed(a), pg_json_listed(b))) END
