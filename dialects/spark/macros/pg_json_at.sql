CREATE MACRO pg_json_at(x, p) AS
pg_json_printed(pg_json_value(x, p))
