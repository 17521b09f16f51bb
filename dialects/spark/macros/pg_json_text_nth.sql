CREATE MACRO pg_json_text_nth(x, n) AS
GET(pg_json_elements_text(x), CASE WHEN n >= 0 THEN n ELSE SIZE(pg_json_elements_text(x)) + n END)
