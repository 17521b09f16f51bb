CREATE MACRO pg.micros(i) AS
datepart('day', i) * 86400000000 + pg.micros_of(i)
