CREATE MACRO pg_json_text_at(x, p) AS
pg_json_shown(pg_json_value(x, p))
