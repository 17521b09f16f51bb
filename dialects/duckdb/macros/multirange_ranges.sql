-- The texts of the ranges of a multirange as Postgres prints it.
CREATE MACRO pg.multirange_ranges(t) AS
CASE WHEN t = '{}' THEN CAST([] AS VARCHAR[]) WHEN t IS NOT NULL THEN STRING_SPLIT(REPLACE(REPLACE(SUBSTRING(t, 2, LENGTH(t) - 2), '),', ')|'), '],', ']|'), '|') END
