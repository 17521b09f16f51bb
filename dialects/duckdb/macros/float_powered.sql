CREATE MACRO pg.float_powered(x, t) AS
CASE WHEN x < 0 THEN '-' ELSE '' END || rtrim(t[1] || '.' || rtrim(replace(pg.float_plain(t), '.', '')[2:],
'0'), '.') || printf('e+%02d', strpos(t, '.') - 2)
