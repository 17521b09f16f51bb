CREATE MACRO pg.days_fixed(m, d, u) AS
CASE WHEN m > 0 AND d < 0 THEN pg.justify(m - 1, d + 30, u) WHEN m < 0 AND d > 0 THEN pg.justify(m + 1, d -
30, u) ELSE pg.justify(m, d, u) END
