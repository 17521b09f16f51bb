-- floating point as text: digits d without a point, exponent e of the first
CREATE MACRO pg_digits(t) AS
LTRIM('0', REPLACE(SPLIT_PART(LTRIM('-', t), 'E', 1), '.', ''))
