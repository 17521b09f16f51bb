CREATE MACRO pg_json_value(x, p) AS
TRY_VARIANT_GET(PARSE_JSON(pg_json_marked(x)), p, 'variant')
