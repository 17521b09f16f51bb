-- The texts of the ranges of a multirange as Postgres prints it.
CREATE MACRO pg_multirange_ranges(t) AS
CASE WHEN t = '{}' THEN CAST(ARRAY() AS ARRAY<STRING>) WHEN t IS NOT NULL THEN SPLIT(REPLACE(REPLACE(SUBSTRING(t, 2, LENGTH(t) - 2), '),', ')|'), '],', ']|'), '[|]') END
