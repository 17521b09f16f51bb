-- The century or millennium, of n years, of a year that is counted on through 1 BC, which is the year 0 there.
CREATE MACRO pg_years_of(y, n) AS
CASE WHEN y > 0 THEN CEIL(y / n) ELSE FLOOR((y - 1) / n) END
