CREATE MACRO pg_json_items(x) AS
CASE WHEN pg_json_typeof(x) = 'array' THEN CAST(PARSE_JSON(pg_json_marked(x)) AS ARRAY<VARIANT>) END
