CREATE MACRO pg.json_at(x, p) AS
pg.spaced(pg.json_unmarked(CAST(json_extract(pg.json_marked(x), p) AS VARCHAR)))
