-- Postgres escapes characters with small letters; bound once, as it stands in larger expressions
CREATE MACRO pg_json_small(t) AS
GET(TRANSFORM(ARRAY(t), u -> CASE WHEN CONTAINS(u, '\\u00') THEN ARRAY_JOIN(TRANSFORM(REGEXP_EXTRACT_ALL(u,
'\\\\u00..|\\\\.|[^\\\\]+', 0), p -> CASE WHEN STARTSWITH(p, '\\u') THEN LOWER(p) ELSE p END), '') ELSE u
END), 0)
