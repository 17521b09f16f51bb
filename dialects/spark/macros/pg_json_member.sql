CREATE MACRO pg_json_member(x, k) AS
pg_json_at(x, pg_json_path(k))
