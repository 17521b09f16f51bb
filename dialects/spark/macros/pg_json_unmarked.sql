CREATE MACRO pg_json_unmarked(t) AS
REPLACE(REGEXP_REPLACE(REGEXP_REPLACE(t, '"\\\\u0001([^"]*)"', '$1'),
'"[0-9]{6}([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"):', '"$1:'), '\\u0001', CHR(39))
