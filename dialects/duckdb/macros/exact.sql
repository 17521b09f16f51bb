CREATE MACRO pg.exact(x) AS
pg.number_plain(printf('%.15g', x))
