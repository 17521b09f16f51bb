CREATE MACRO pg_json_key(k) AS
CONCAT('"', pg_json_length(REGEXP_REPLACE(k, '\\\\(?:u[0-9a-fA-F]{4}|.)', '.')), REPLACE(k, CHR(39),
'\\u0001'), '":')
