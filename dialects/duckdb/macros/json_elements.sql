CREATE MACRO pg.json_elements(x) AS
list_transform(json_extract(pg.json_marked(x), '$[*]'), lambda v: pg.spaced(pg.json_unmarked(CAST(v AS
VARCHAR))))
