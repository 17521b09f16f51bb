CREATE MACRO pg.interval_of(m, d, u) AS
pg.interval_carried(trunc(m), trunc(d), pg.tsround((m - trunc(m)) * 30), d - trunc(d), u)
