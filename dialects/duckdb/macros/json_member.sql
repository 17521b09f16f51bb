CREATE MACRO pg.json_member(x, k) AS
json_extract(x, pg.json_key(k))
