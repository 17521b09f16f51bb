CREATE MACRO pg.array_has(l, x) AS
CASE WHEN list_contains(l, x) THEN TRUE WHEN len(l) > 0 AND x IS NULL OR len(l) <> list_count(l) THEN NULL
WHEN len(l) = 0 THEN FALSE ELSE list_contains(l, x) END
