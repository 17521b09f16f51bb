CREATE MACRO pg.json_size(x) AS
CAST(json_array_length(x) AS BIGINT)
