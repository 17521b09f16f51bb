CREATE MACRO pg.interval_settled(m, d, s, u) AS
to_months(CAST(m AS INTEGER)) + to_days(CAST(d + trunc(s / 86400) AS INTEGER)) +
to_microseconds(CAST(round_even(u + (s - trunc(s / 86400) * 86400) * 1e6, 0) AS BIGINT))
