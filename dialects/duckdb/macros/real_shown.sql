CREATE MACRO pg.real_shown(t) AS
CASE WHEN CAST(split_part(t, 'e', 2) AS INTEGER) BETWEEN -4 AND 5 THEN pg.number_plain(t) ELSE t END
