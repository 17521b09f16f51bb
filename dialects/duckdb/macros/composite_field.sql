-- The text of a field of a composite value as Postgres prints it, from 1; NULL where the field is. Where no field is in quotes commas
-- part them; otherwise the pattern's group is the field.
CREATE MACRO pg.composite_field(t, which, size, pattern) AS
CASE WHEN t IS NULL THEN NULL
  WHEN NOT CONTAINS(t, '"') THEN
    CASE WHEN LENGTH(t) - LENGTH(REPLACE(t, ',', '')) <> size - 1
      THEN ERROR('a composite value has other fields than its type had: ' || t)
    ELSE NULLIF(SPLIT_PART(t[2:-2], ',', which), '') END
  WHEN NOT REGEXP_MATCHES(t, pattern) THEN ERROR('a composite value has other fields than its type had: ' || t)
  WHEN REGEXP_EXTRACT(t, pattern, 1) LIKE '"%'
  THEN REPLACE(REPLACE(REGEXP_EXTRACT(t, pattern, 1)[2:-2], '""', '"'), '\\', '\')
  ELSE NULLIF(REGEXP_EXTRACT(t, pattern, 1), '') END
