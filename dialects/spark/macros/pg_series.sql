-- a step of months is added to the time before, not so many times to the first: from January 30 on to March 29
CREATE MACRO pg_series(a, b, s) AS
CASE WHEN s['months'] = 0 THEN SEQUENCE(a, b, pg_addable(s)) ELSE FILTER(AGGREGATE(SEQUENCE(1, pg_steps(a, b,
s)), ARRAY(a), (l, n) -> CONCAT(l, ARRAY(ELEMENT_AT(l, -1) + pg_addable(s)))), v -> CASE WHEN pg_length(s) > 0
THEN v <= b ELSE v >= b END) END
