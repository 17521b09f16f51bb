CREATE MACRO pg.interval_text(i) AS
list_transform([i], lambda v: pg.interval_shown(pg.months_of(v), datepart('day', v), pg.micros_of(v)))[1]
