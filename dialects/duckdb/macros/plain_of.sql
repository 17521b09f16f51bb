CREATE MACRO pg.plain_of(d, e) AS
CASE WHEN e < 0 THEN '0.' || repeat('0', -e - 1) || d WHEN len(d) <= e + 1 THEN d || repeat('0', e + 1 -
len(d)) ELSE d[1:e + 1] || '.' || d[e + 2:] END
