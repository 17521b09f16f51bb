CREATE MACRO pg.real_digits(x) AS
CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) ELSE pg.number_plain(printf('%.6g', x + 0)) END
