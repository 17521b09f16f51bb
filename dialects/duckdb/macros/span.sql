-- a month is 30 days, as for Postgres
CREATE MACRO pg.span(i) AS
CAST(pg.months_of(i) * 30 + datepart('day', i) AS HUGEINT) * 86400000000 + pg.micros_of(i)
