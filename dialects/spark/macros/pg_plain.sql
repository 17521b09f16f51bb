CREATE MACRO pg_plain(d, e) AS
RTRIM('.', CASE WHEN e < 0 THEN CONCAT('0.', REPEAT('0', -e - 1), RTRIM('0', d)) ELSE CONCAT(RPAD(LEFT(d, e +
1), e + 1, '0'), '.', RTRIM('0', SUBSTRING(d, e + 2))) END)
