-- age: fields of the later less those of the earlier, days borrowed from the earlier's month
CREATE MACRO pg_age(a, b) AS
CASE WHEN a >= b THEN pg_age_of(a, b) ELSE pg_interval_times_whole(pg_age_of(b, a), -1) END
