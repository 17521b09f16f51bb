CREATE MACRO pg_json_path(k) AS
CONCAT('$[', CHR(39), pg_json_length(k), REPLACE(k, CHR(39), CHR(1)), CHR(39), ']')
