CREATE MACRO pg.hours_fixed(m, d, u) AS
CASE WHEN d > 0 AND u < 0 THEN pg.justify(m, d - 1, u + 86400000000) WHEN d < 0 AND u > 0 THEN pg.justify(m, d
+ 1, u - 86400000000) ELSE pg.justify(m, d, u) END
