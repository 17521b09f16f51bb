CREATE MACRO pg_json_nth(x, n) AS
GET(pg_json_elements(x), CASE WHEN n >= 0 THEN n ELSE SIZE(pg_json_elements(x)) + n END)
