CREATE MACRO pg_interval_over(i, n) AS
pg_interval_of(i['months'] / n, i['days'] / n, i['micros'] / n)
