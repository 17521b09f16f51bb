CREATE MACRO pg.json_quoted(x) AS
pg.json_small(CAST(to_json(x) AS VARCHAR))
