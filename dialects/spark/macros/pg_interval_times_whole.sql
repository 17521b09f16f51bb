CREATE MACRO pg_interval_times_whole(i, n) AS
pg_interval(CAST(i['months'] * n AS INT), CAST(i['days'] * n AS INT), i['micros'] * n)
