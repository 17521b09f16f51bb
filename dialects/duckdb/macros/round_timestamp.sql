CREATE MACRO pg.round_timestamp(t, s) AS
make_timestamp(pg.nearest(epoch_us(t) - 946684800000000, s) + 946684800000000)
