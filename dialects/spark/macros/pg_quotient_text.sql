-- the text of a quotient of numbers with s and t digits after the point: 16 digits or more, in groups of four, by the operands'
-- first groups; divided digit by digit (DIV is a BIGINT), so that no digit is made up
CREATE MACRO pg_quotient_text(a, b, s, t) AS
CASE WHEN b <> 0 THEN pg_quotient_of(ABS(pg_unscaled(a)), ABS(pg_unscaled(b)), s, t, (a < 0) <> (b < 0)) END
