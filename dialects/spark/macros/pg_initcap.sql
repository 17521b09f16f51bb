CREATE MACRO pg_initcap(x) AS
ARRAY_JOIN(TRANSFORM(SPLIT(x, ''), (c, i) -> CASE WHEN i > 0 AND SUBSTRING(x, i, 1) RLIKE
'[\\p{L}\\p{Mc}\\p{Nl}\\p{Nd}]' THEN pg_lower(c) ELSE pg_upper(c) END), '')
