CREATE MACRO pg.json_shown(x) AS
CASE WHEN json_type(x) IN ('OBJECT', 'ARRAY') THEN pg.spaced(pg.json_unmarked(CAST(x AS VARCHAR))) ELSE
ltrim(x ->> '$', chr(1)) END
