-- A year as Postgres has it, of one that is counted on through 1 BC, which is the year 0 there: Postgres has no year 0.
CREATE MACRO pg.year_of(y) AS
CASE WHEN y > 0 THEN y ELSE y - 1 END
