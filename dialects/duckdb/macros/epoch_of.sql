CREATE MACRO pg.epoch_of(i) AS
(CAST((pg.months_of(i) // 12) * 31557600 + pg.months_of(i) % 12 * 2592000 + datepart('day', i) * 86400 AS
DECIMAL(20,0)) + pg.micros_of(i) * 0.000001)
