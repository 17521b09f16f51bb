CREATE MACRO pg.total(added, about, most) AS
CASE WHEN ABS(about) >= most THEN ERROR('a sum has more than 38 digits') ELSE added END
