CREATE MACRO pg_json_spaced(t) AS
pg_json_small(RTRIM(REGEXP_REPLACE(t, '((?:"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|[^",:]++)++)([,:]|$)', '$1$2 ')))
