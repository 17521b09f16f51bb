CREATE MACRO pg_json_object_of(l, a, b) AS
CONCAT('{', ARRAY_JOIN(TRANSFORM(l, k -> CONCAT(pg_json_quote(k), ': ', COALESCE(pg_json_member(b, k),
pg_json_member(a, k)))), ', '), '}')
