-- A field of a time, which is infinite, and no numeric, where the time is.
CREATE MACRO pg.within(field, moment, value) AS
  CASE WHEN ISINF(moment) THEN ERROR('extract(' || field || ') of an infinite time is infinite, and no numeric is')
  ELSE value END
