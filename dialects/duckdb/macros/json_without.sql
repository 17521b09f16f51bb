CREATE MACRO pg.json_without(x, ks) AS
CASE WHEN x IS NULL OR ks IS NULL THEN NULL WHEN json_type(x) = 'OBJECT' THEN
pg.json_object_of(list_filter(json_keys(x), lambda k: NOT list_contains(ks, k)), x, x) ELSE
pg.json_array_of(list_filter(pg.json_elements(x), lambda v: NOT list_contains(list_transform(ks, lambda k:
pg.json_quoted(k)), v))) END
