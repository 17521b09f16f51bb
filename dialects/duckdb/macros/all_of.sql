CREATE MACRO pg.all_of(l) AS
CASE WHEN list_contains(l, FALSE) THEN FALSE WHEN len(l) <> list_count(l) THEN NULL WHEN l IS NOT NULL THEN
TRUE END
