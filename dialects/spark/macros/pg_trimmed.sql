CREATE MACRO pg_trimmed(t) AS
CASE WHEN t LIKE '%.%' THEN RTRIM('.', RTRIM('0', t)) ELSE t END
