CREATE MACRO pg.json_joined(a, b) AS
CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN json_type(a) = 'OBJECT' AND json_type(b) = 'OBJECT' THEN
pg.json_object_of(pg.json_sorted(list_concat(json_keys(a), json_keys(b))), a, b) ELSE
pg.json_array_of(list_concat(pg.json_listed(a), pg.json_listed(b))) END
