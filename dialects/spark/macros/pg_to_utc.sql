-- of a local time that comes twice, the second
CREATE MACRO pg_to_utc(x, z) AS
pg_later(TO_UTC_TIMESTAMP(x, z), x, z)
