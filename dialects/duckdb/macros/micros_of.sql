CREATE MACRO pg.micros_of(i) AS
datepart('hour', i) * 3600000000 + datepart('minute', i) * 60000000 + datepart('microsecond', i)
