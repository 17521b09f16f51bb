-- The text of a field of a composite value as Postgres prints it, from 1; NULL where the field is. Of what quotes part, every second
-- is within them: commas of the others part the fields, and are made what no text has before the value is split by them.
CREATE MACRO pg_composite_field(t, which, size) AS
TRANSFORM(ARRAY(SPLIT(ARRAY_JOIN(TRANSFORM(SPLIT(SUBSTRING(t, 2, LENGTH(t) - 2), '"', -1),
  (x, i) -> IF(i % 2 = 0, REPLACE(x, ',', '\0'), x)), '"'), '\0', -1)), p -> CASE WHEN t IS NULL THEN NULL
  WHEN SIZE(p) <> size THEN RAISE_ERROR(CONCAT('a composite value has other fields than its type had: ', t))
  WHEN p[which - 1] LIKE '"%' THEN
    REPLACE(REPLACE(SUBSTRING(p[which - 1], 2, LENGTH(p[which - 1]) - 2), '""', '"'), '\\\\', '\\')
  ELSE NULLIF(p[which - 1], '') END)[0]
