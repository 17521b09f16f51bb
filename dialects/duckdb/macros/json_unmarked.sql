CREATE MACRO pg.json_unmarked(t) AS
regexp_replace(t, '"\\u0001([^"]*)"', '\1', 'g')
