CREATE MACRO pg.justify(m, d, u) AS
to_months(CAST(m AS INTEGER)) + to_days(CAST(d AS INTEGER)) + to_microseconds(CAST(u AS BIGINT))
