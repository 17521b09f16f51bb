CREATE MACRO pg_json_printed(v) AS
pg_json_spaced(pg_json_unmarked(TO_JSON(v)))
