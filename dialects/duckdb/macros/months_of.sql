CREATE MACRO pg.months_of(i) AS
datepart('year', i) * 12 + datepart('month', i)
