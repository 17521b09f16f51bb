CREATE MACRO pg_bin(s, t, o) AS
o + ((t - o) DIV s - CASE WHEN (t - o) % s < 0 THEN 1 ELSE 0 END) * s
