CREATE MACRO pg.json_has_element(x, e) AS
coalesce(list_contains(list_transform(pg.json_elements(x), lambda v: pg.json_norm(v)), pg.json_norm(e)),
FALSE)
