CREATE MACRO pg.quotient_of(n, d, s, t, below) AS
list_transform([pg.quotient_scale(n, d, s, t)], lambda r: pg.quotient_shown(pg.quotient_digits(n * pg.tens(t -
s), d * pg.tens(s - t), r), r, below))[1]
