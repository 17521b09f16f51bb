-- the text of a quotient of numbers with s and t digits after the point: 16 digits or more, in groups of four, by the operands'
-- first groups; divided by four digits at a time, so that no digit is made up
CREATE MACRO pg.quotient_text(a, b, s, t) AS
list_transform([{'a': pg.unscaled(a), 'b': pg.unscaled(b)}], lambda v: CASE WHEN v['b'] <> 0 THEN
pg.quotient_of(abs(v['a']), abs(v['b']), s, t, (v['a'] < 0) <> (v['b'] < 0)) END)[1]
