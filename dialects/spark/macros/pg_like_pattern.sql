-- before a character that is none of %, _ and itself, a backslash means nothing
CREATE MACRO pg_like_pattern(p) AS
REGEXP_REPLACE(p, '(\\\\[%_\\\\])|\\\\(.)', '$1$2')
