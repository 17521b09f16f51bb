CREATE MACRO pg.json_key(k) AS
CASE WHEN k IN ('', '*') THEN '/' || k ELSE '$."' || replace(k, '"', '\"') || '"' END
