CREATE MACRO pg_json_kind(s) AS
CASE WHEN s LIKE 'OBJECT%' THEN 'object' WHEN s LIKE 'ARRAY%' THEN 'array' WHEN s = 'STRING' THEN 'string'
WHEN s = 'BOOLEAN' THEN 'boolean' WHEN s = 'VOID' THEN 'null' WHEN s IS NOT NULL THEN 'number' END
