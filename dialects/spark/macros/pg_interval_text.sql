CREATE MACRO pg_interval_text(i) AS
pg_interval_shown(i['months'], i['days'], i['micros'])
