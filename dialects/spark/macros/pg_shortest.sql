-- Java before 19 writes more digits than tell a number from its neighbours
CREATE MACRO pg_shortest(x, t) AS
CASE WHEN t IS NULL OR LENGTH(t) < 17 OR t RLIKE 'N|y' THEN t WHEN pg_told(x, FORMAT_STRING('%.14E', x)) THEN
FORMAT_STRING('%.14E', x) WHEN pg_told(x, FORMAT_STRING('%.15E', x)) THEN FORMAT_STRING('%.15E', x) ELSE
FORMAT_STRING('%.16E', x) END
