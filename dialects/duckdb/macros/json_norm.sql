CREATE MACRO pg.json_norm(x) AS
regexp_replace(x, '("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d*[1-9])?)\.?0*', '\1', 'g')
