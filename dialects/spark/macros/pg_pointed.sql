CREATE MACRO pg_pointed(t, r) AS
CONCAT(LEFT(t, LENGTH(t) - r), '.', RIGHT(t, r))
