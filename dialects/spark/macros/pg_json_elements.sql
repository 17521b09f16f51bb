CREATE MACRO pg_json_elements(x) AS
TRANSFORM(pg_json_items(x), v -> pg_json_spaced(pg_json_unmarked(COALESCE(TO_JSON(v), 'null'))))
