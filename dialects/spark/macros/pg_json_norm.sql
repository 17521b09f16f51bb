CREATE MACRO pg_json_norm(x) AS
REGEXP_REPLACE(x, '("[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|-?\\d+(?:\\.\\d*[1-9])?)\\.?0*', '$1')
