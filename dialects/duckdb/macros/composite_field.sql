-- The text of a field of a composite value as Postgres prints it; NULL where the field is. The pattern's group is the field.
CREATE MACRO pg.composite_field(t, pattern) AS
CASE WHEN t IS NULL THEN NULL
  WHEN NOT REGEXP_MATCHES(t, pattern) THEN ERROR('a composite value has other fields than its type had: ' || t)
  WHEN REGEXP_EXTRACT(t, pattern, 1) LIKE '"%'
  THEN REPLACE(REPLACE(REGEXP_EXTRACT(t, pattern, 1)[2:-2], '""', '"'), '\\', '\')
  ELSE NULLIF(REGEXP_EXTRACT(t, pattern, 1), '') END
