CREATE MACRO pg.interval_times(i, n) AS
list_transform([i], lambda v: pg.interval_of(pg.months_of(v) * n, datepart('day', v) * n, pg.micros_of(v) *
n))[1]
