CREATE MACRO pg.float_digits(x) AS
CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) ELSE pg.exact(x + 0) END
