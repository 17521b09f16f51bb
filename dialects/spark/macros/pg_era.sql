-- A date or timestamp as Spark writes it, as Postgres does: the year -43 is 44 BC, and one past 9999 has no plus.
CREATE MACRO pg_era(t) AS
CASE WHEN t LIKE '-%' OR t LIKE '0000-%' THEN CONCAT(FORMAT_STRING('%04d', 1 + CAST(SUBSTRING_INDEX(LTRIM('-', t),
'-', 1) AS INT)), SUBSTRING(LTRIM('-', t), INSTR(LTRIM('-', t), '-')), ' BC') ELSE LTRIM('+', t) END
