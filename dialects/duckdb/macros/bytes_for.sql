CREATE MACRO pg.bytes_for(s, a, n) AS
CASE WHEN a + n <= greatest(a, 1) THEN CASE WHEN s IS NOT NULL THEN ''::BLOB END WHEN a + n IS NOT NULL THEN
s[greatest(a, 1):a + n - 1] END
