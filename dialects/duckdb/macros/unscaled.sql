CREATE MACRO pg.unscaled(x) AS
CAST(replace(CAST(x AS VARCHAR), '.', '') AS HUGEINT)
