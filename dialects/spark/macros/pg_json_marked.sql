-- JSON: while Spark reads it, numbers that it would write otherwise are strings, and keys have their length before them, since
-- it puts them in order; a key without apostrophes can be named in a path
CREATE MACRO pg_json_marked(x) AS
CASE WHEN x LIKE '%:%' OR x RLIKE '\\.[0-9]*0|[0-9][eE]|[0-9.]{30}' THEN
ARRAY_JOIN(TRANSFORM(REGEXP_EXTRACT_ALL(x,
'"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"\\s*:?|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[^"0-9-]+|-', 0), t ->
CASE WHEN t LIKE '"%:' THEN pg_json_key(REGEXP_REPLACE(SUBSTRING(t, 2), '"\\s*:$', '')) WHEN t RLIKE
'^-?[0-9]' AND (t RLIKE '\\.[0-9]*0$|[eE]' OR LENGTH(t) > 30) THEN CONCAT('"\\u0001', t, '"') ELSE t END), '')
ELSE x END
