CREATE MACRO pg_uuid_of(x) AS
REGEXP_REPLACE(REGEXP_REPLACE(LOWER(TRIM(x)), '[{}-]', ''), '^(.{8})(.{4})(.{4})(.{4})(.{12})$',
'$1-$2-$3-$4-$5')
