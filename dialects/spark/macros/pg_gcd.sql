CREATE MACRO pg_gcd(x, y) AS
AGGREGATE(SEQUENCE(1, 92), NAMED_STRUCT('a', ABS(CAST(x AS BIGINT)), 'b', ABS(CAST(y AS BIGINT))), (s, i) ->
CASE WHEN s['b'] = 0 THEN s ELSE NAMED_STRUCT('a', s['b'], 'b', s['a'] % s['b']) END)['a']
