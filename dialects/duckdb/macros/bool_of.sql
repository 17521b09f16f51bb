CREATE MACRO pg.bool_of(x) AS
CASE WHEN x IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE WHEN x IN ('f', 'fa', 'fal',
'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE ELSE CAST(x AS BOOLEAN) END
