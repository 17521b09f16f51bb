CREATE MACRO pg_json_array_of(l) AS
CONCAT('[', ARRAY_JOIN(l, ', '), ']')
