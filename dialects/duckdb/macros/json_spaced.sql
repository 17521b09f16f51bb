CREATE MACRO pg.json_spaced(x) AS
rtrim(regexp_replace(x, '((?:"(?:[^"\\]|\\.)*"|[^",:])+)([,:]|$)', '\1\2 ', 'g'), ' ')
