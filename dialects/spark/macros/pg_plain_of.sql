CREATE MACRO pg_plain_of(d, e) AS
CASE WHEN e < 0 THEN CONCAT('0.', REPEAT('0', -e - 1), d) WHEN LENGTH(d) <= e + 1 THEN RPAD(d, e + 1, '0')
ELSE CONCAT(LEFT(d, e + 1), '.', SUBSTRING(d, e + 2)) END
