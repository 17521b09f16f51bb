CREATE MACRO pg.wrapped(x, m) AS
((x % m + m + m // 2) % m + m) % m - m // 2
