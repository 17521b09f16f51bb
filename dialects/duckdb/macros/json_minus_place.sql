CREATE MACRO pg.json_minus_place(x, i) AS
list_transform([x], lambda u: pg.json_without_place(u, i))[1]
