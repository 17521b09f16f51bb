CREATE MACRO pg_array_quoted(x) AS
CASE WHEN x IS NULL THEN 'NULL' WHEN x = '' OR LOWER(x) = 'null' OR x RLIKE '[\\s{},"\\\\]' THEN CONCAT('"',
REPLACE(REPLACE(x, '\\', '\\\\'), '"', '\\"'), '"') ELSE x END
