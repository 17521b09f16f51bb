-- intervals
CREATE MACRO pg_interval(m, d, u) AS
CASE WHEN m IS NOT NULL AND d IS NOT NULL AND u IS NOT NULL THEN NAMED_STRUCT('months', m, 'days', d,
'micros', u) END
