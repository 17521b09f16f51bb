CREATE MACRO pg_json_text_member(x, k) AS
pg_json_text_at(x, pg_json_path(k))
