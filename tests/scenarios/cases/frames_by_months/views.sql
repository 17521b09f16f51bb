-- view: a_month_before
SELECT id, count(*) OVER (ORDER BY ts RANGE BETWEEN interval '1 month' PRECEDING AND CURRENT ROW) AS c, sum(id) OVER (PARTITION BY p ORDER BY ts RANGE BETWEEN interval '1 month' PRECEDING AND interval '1 month' FOLLOWING) AS s FROM t;
-- view: downwards
SELECT id, count(*) OVER (ORDER BY ts DESC RANGE BETWEEN interval '1 month' PRECEDING AND CURRENT ROW) AS c, sum(id) OVER (PARTITION BY p ORDER BY ts DESC NULLS LAST RANGE BETWEEN CURRENT ROW AND interval '1 month 2 days' FOLLOWING) AS s FROM t;
-- view: apart_and_excluded
SELECT id, count(*) OVER (ORDER BY tz NULLS FIRST RANGE BETWEEN interval '2 month' PRECEDING AND interval '1 month' PRECEDING) AS c, min(id) OVER (PARTITION BY p ORDER BY tz RANGE BETWEEN interval '1 month' FOLLOWING AND interval '2 month' FOLLOWING) AS s, max(id) OVER (PARTITION BY p ORDER BY ts NULLS FIRST RANGE BETWEEN UNBOUNDED PRECEDING AND interval '1 month' FOLLOWING EXCLUDE CURRENT ROW) AS x FROM t;
-- view: dates_and_first_values
SELECT id, count(*) OVER (ORDER BY d RANGE BETWEEN interval '1 month' PRECEDING AND interval '1 month 1 hour' FOLLOWING) AS c, first_value(ts) OVER (PARTITION BY p ORDER BY ts RANGE BETWEEN interval '1 month' PRECEDING AND CURRENT ROW) AS f FROM t;
