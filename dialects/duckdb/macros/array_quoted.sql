CREATE MACRO pg.array_quoted(x) AS
CASE WHEN x IS NULL THEN 'NULL' WHEN x = '' OR lower(x) = 'null' OR regexp_matches(x, '[\s{},"\\]') THEN '"'
|| replace(replace(x, '\', '\\'), '"', '\"') || '"' ELSE x END
