CREATE MACRO pg.timestamp_text(x) AS
CAST(x AS VARCHAR)
