CREATE MACRO pg.justify_hours(i) AS
pg.hours_fixed(pg.months_of(i), datepart('day', i) + pg.micros_of(i) // 86400000000, pg.micros_of(i) %
86400000000)
