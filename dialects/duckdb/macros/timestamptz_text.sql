CREATE MACRO pg.timestamptz_text(x) AS
pg.era(CAST(x AS VARCHAR) || CASE WHEN isinf(x) THEN '' ELSE '+00' END)
