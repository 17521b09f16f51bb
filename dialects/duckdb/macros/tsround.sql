CREATE MACRO pg.tsround(x) AS
round_even(x * 1e6, 0) / 1e6
