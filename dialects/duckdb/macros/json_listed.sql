CREATE MACRO pg.json_listed(x) AS
CASE WHEN json_type(x) = 'ARRAY' THEN pg.json_elements(x) ELSE [x] END
