CREATE MACRO pg.spaced(x) AS
pg.json_small(pg.json_spaced(x))
