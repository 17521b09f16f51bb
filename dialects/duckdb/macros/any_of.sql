CREATE MACRO pg.any_of(l) AS
CASE WHEN list_contains(l, TRUE) THEN TRUE WHEN len(l) <> list_count(l) THEN NULL WHEN l IS NOT NULL THEN
FALSE END
