CREATE MACRO pg.array_text(x) AS
'[' || x[2:-2] || ']'
