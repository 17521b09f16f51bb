CREATE MACRO pg_quotient_digits(n, d, r) AS
AGGREGATE(SEQUENCE(0, r), NAMED_STRUCT('q', CAST((n - n % d) / d AS DECIMAL(38,0)), 'r', CAST(n % d AS
DECIMAL(38,0))), (v, i) -> CASE WHEN i = 0 THEN v ELSE NAMED_STRUCT('q', CAST(v['q'] * 10 + v['r'] * 10 DIV d
AS DECIMAL(38,0)), 'r', CAST(v['r'] * 10 % d AS DECIMAL(38,0))) END, v -> v['q'] + CASE WHEN v['r'] * 2 >= d
THEN 1 ELSE 0 END)
