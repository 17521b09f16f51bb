CREATE MACRO pg_json_minus_place(x, i) AS
CASE WHEN x IS NULL OR i IS NULL THEN NULL ELSE pg_json_array_of(FILTER(pg_json_elements(x), (v, j) -> j <>
CASE WHEN i >= 0 THEN i ELSE SIZE(pg_json_elements(x)) + i END)) END
