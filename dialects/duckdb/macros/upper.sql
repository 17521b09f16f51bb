CREATE MACRO pg.upper(x) AS
CASE WHEN contains(x, 'ß') THEN replace(upper(replace(x, 'ß', chr(1))), chr(1), 'ß') ELSE upper(x) END
