-- The time of day after so many microseconds, of which the last is 24:00.
CREATE MACRO pg.clock_of(micros) AS
  CASE WHEN micros = 86400000000 THEN CAST('24:00:00' AS TIME) ELSE CAST(MAKE_TIMESTAMP(micros) AS TIME) END
