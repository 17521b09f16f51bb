-- bound once
CREATE MACRO pg.json_minus(x, ks) AS
list_transform([x], lambda u: pg.json_without(u, ks))[1]
