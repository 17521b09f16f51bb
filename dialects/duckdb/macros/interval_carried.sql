CREATE MACRO pg.interval_carried(m, d, r, f, u) AS
pg.interval_settled(m, d + trunc(r), pg.tsround((f + r - trunc(r)) * 86400), u)
