CREATE MACRO pg_json_minus(x, ks) AS
CASE WHEN x IS NULL OR ks IS NULL THEN NULL WHEN pg_json_typeof(x) = 'object' THEN
pg_json_object_of(FILTER(JSON_OBJECT_KEYS(x), k -> NOT ARRAY_CONTAINS(ks, k)), x, x) ELSE
pg_json_array_of(FILTER(pg_json_elements(x), v -> NOT ARRAY_CONTAINS(TRANSFORM(ks, k -> pg_json_quote(k)),
v))) END
