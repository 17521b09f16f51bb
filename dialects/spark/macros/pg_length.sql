CREATE MACRO pg_length(i) AS
(i['months'] * CAST(30 AS BIGINT) + i['days']) * 86400000000 + i['micros']
