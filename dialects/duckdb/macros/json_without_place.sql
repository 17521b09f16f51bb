CREATE MACRO pg.json_without_place(x, i) AS
CASE WHEN i IS NULL OR x IS NULL THEN NULL ELSE pg.json_array_of(list_filter(pg.json_elements(x), lambda v, j:
j <> CASE WHEN i >= 0 THEN i + 1 ELSE len(pg.json_elements(x)) + i + 1 END)) END
