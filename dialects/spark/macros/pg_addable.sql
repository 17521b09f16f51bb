CREATE MACRO pg_addable(i) AS
MAKE_INTERVAL(0, i['months'], 0, i['days'], 0, 0, CAST(i['micros'] * CAST(0.000001 AS DECIMAL(6,6)) AS
DECIMAL(18,6)))
