CREATE MACRO pg_json_listed(x) AS
CASE WHEN pg_json_typeof(x) = 'array' THEN pg_json_elements(x) ELSE ARRAY(x) END
