CREATE MACRO pg.date_bin(s, t, o) AS
o + to_microseconds(CAST(pg.floor_div(epoch_us(t) - epoch_us(o), pg.micros(s)) * pg.micros(s) AS BIGINT))
