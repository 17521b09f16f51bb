CREATE MACRO pg.justify_days(i) AS
pg.days_fixed(pg.months_of(i) + datepart('day', i) // 30, datepart('day', i) % 30, pg.micros_of(i))
