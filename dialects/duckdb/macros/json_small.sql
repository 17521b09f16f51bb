-- Postgres escapes characters with small letters; bound once, as it stands in larger expressions
CREATE MACRO pg.json_small(t) AS
list_transform([t], lambda u: CASE WHEN contains(u, '\u00') THEN
array_to_string(list_transform(regexp_extract_all(u, '\\u00..|\\.|[^\\]+'), lambda p: CASE WHEN p LIKE '\u%'
THEN lower(p) ELSE p END), '') ELSE u END)[1]
