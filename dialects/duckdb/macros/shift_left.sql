CREATE MACRO pg.shift_left(x, n, bits) AS
pg.wrapped(CAST(x AS HUGEINT) * (CAST(1 AS HUGEINT) << (n & (greatest(bits, 32) - 1))), CAST(1 AS HUGEINT) <<
bits)
