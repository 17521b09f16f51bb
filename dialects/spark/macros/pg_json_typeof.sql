CREATE MACRO pg_json_typeof(x) AS
pg_json_kind(SCHEMA_OF_VARIANT(PARSE_JSON(x)))
