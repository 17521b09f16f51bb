CREATE MACRO pg.float_text(x) AS
CASE WHEN isnan(x) THEN 'NaN' WHEN isinf(x) THEN CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END WHEN
abs(x) >= 1e15 AND abs(x) < 1e16 THEN pg.float_powered(x, CAST(abs(x) AS VARCHAR)) WHEN abs(x) >= 1e16 AND
abs(x) < 1e37 THEN pg.float_large(x) ELSE pg.float_plain(CAST(x AS VARCHAR)) END
