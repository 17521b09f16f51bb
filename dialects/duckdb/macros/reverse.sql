-- by code points: REVERSE keeps a letter and its accent together
CREATE MACRO pg.reverse(x) AS
array_to_string(list_reverse(regexp_extract_all(x, '(?s).')), '')
