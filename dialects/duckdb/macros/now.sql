CREATE MACRO pg.now() AS
coalesce(CAST(getvariable('tidemark_now') AS TIMESTAMPTZ), now())
