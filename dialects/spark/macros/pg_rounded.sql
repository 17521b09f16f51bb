CREATE MACRO pg_rounded(x) AS
RINT(x * 1e6) / 1e6
