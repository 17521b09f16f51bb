CREATE MACRO pg.time_of(i) AS
CAST(make_timestamp((pg.micros_of(i) % 86400000000 + 86400000000) % 86400000000) AS TIME)
