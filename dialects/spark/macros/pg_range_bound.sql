-- The text of a bound, the lower (1) or the upper one (2), of a range as Postgres prints it; NULL where it has none.
CREATE MACRO pg_range_bound(t, n) AS
NULLIF(BTRIM(SPLIT_PART(CASE WHEN t = 'empty' THEN ',' ELSE t END, ',', n), '[]()"'), '')
