CREATE MACRO pg.json_has_key(x, k) AS
coalesce(json_type(x) = 'OBJECT' AND list_contains(json_keys(x), k), FALSE)
