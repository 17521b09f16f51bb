CREATE MACRO pg.timestamp_text(x) AS
pg.era(CAST(x AS VARCHAR))
