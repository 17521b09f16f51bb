-- bound once
CREATE MACRO pg.json_concat(a, b) AS
list_transform([[a, b]], lambda p: pg.json_joined(p[1], p[2]))[1]
