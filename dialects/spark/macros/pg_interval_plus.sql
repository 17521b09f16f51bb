CREATE MACRO pg_interval_plus(a, b) AS
pg_interval(a['months'] + b['months'], a['days'] + b['days'], a['micros'] + b['micros'])
