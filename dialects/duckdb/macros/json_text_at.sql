CREATE MACRO pg.json_text_at(x, p) AS
pg.json_shown(json_extract(pg.json_marked(x), p))
