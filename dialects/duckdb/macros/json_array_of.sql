CREATE MACRO pg.json_array_of(l) AS
'[' || coalesce(array_to_string(l, ', '), '') || ']'
