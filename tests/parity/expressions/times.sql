-- a date
a + 1
a - 1
1 + a
a - date '2020-01-01'
a + interval '1 month'
a - interval '1 month'
a + interval '1 day 2 hours'
a + time '10:30'
a + interval '1 year 1 day'
extract(year FROM a)
extract(month FROM a)
extract(day FROM a)
extract(dow FROM a)
extract(isodow FROM a)
extract(doy FROM a)
extract(week FROM a)
extract(isoyear FROM a)
extract(quarter FROM a)
extract(decade FROM a)
extract(century FROM a)
extract(millennium FROM a)
extract(epoch FROM a)
extract(julian FROM a)
date_part('year', a)
date_part('dow', a)
date_part('epoch', a)
date_trunc('year', a)
date_trunc('quarter', a)
date_trunc('month', a)
date_trunc('week', a)
date_trunc('day', a)
date_trunc('decade', a)
date_trunc('century', a)
date_trunc('month', a)::date
(date_trunc('month', a) + interval '1 month - 1 day')::date
a::timestamp
a::timestamptz
a::text
a::varchar
a || ''
a = '2020-02-29'
a < '2000-01-01'
a BETWEEN '2020-01-01' AND '2020-12-31'
a > timestamp '2020-01-01 12:00'
a = timestamptz '2020-01-01 00:00+00'
to_char(a, 'YYYY-MM-DD')
to_char(a, 'YYYY-MM')
to_char(a, 'Day')
to_char(a, 'FMDay, DD FMMonth YYYY')
to_char(a, 'DY')
to_char(a, 'Mon DD')
to_char(a, 'MON-YY')
to_char(a, 'month')
to_char(a, 'Q')
to_char(a, 'IYYY-IW')
to_char(a, 'DDD')
to_char(a, 'D ID')
to_char(a, 'WW')
to_char(a, 'CC')
to_char(a, 'J')
to_char(a, 'YYYY"W"IW')
to_char(a, 'DDth')
to_char(a, 'FMDD')
to_char(a, 'YYY')
to_char(a, 'RM')
to_char(a, 'YYYY BC')
isfinite(a)
age(a, date '2000-01-01')
age(date '2024-02-29', a)
coalesce(a, '2020-01-01')
greatest(a, '2020-01-01')
nullif(a, '2020-02-29')
date_bin('7 days', a, timestamp '2001-01-01')
to_json(a)
to_jsonb(a)
concat(a)
make_date(extract(year FROM a)::int, 1, 1)
make_date(-extract(year FROM a)::int, 2, 3)
date_trunc('millennium', a)
make_timestamp(extract(year FROM a)::int, 2, 3, 4, 5, 6.5)
a AT TIME ZONE 'America/New_York'
(a, a + 5) OVERLAPS (date '2020-01-01', date '2020-03-01')
a - '2020-01-01'
format('%s', a)
case when a > '2000-01-01' then a end
a IS DISTINCT FROM '2020-02-29'

-- a date, b date
a - b
a < b
a = b
age(a, b)
greatest(a, b)
a + (b - a)
(a - b) / 7
(a, b) OVERLAPS (b, a)
(a, date '2020-02-15') OVERLAPS (b, NULL::date)
(a, NULL::date) OVERLAPS (date '2020-01-01', b)
(a, NULL::date) OVERLAPS (b, NULL::date)

-- a date, b small
a + b
a - b
a + b * interval '1 day'
a + b * interval '1 month'
a + make_interval(months => b)
a + make_interval(days => b)
(a + b * interval '1 year')::date

-- a date, b interval
a + b
a - b

-- a date, b time
a + b

-- a timestamp
a + time '10:30'
a - time '23:59:59.5'
time '01:00' + a
a + interval '1 month'
a - interval '1 day'
a + interval '90 minutes'
a - timestamp '2020-01-01'
a::date
a::time
a::text
a::timestamptz
a::timestamp(0)
a::timestamp(3)
a::varchar
extract(year FROM a)
extract(month FROM a)
extract(day FROM a)
extract(hour FROM a)
extract(minute FROM a)
extract(second FROM a)
extract(milliseconds FROM a)
extract(microseconds FROM a)
extract(epoch FROM a)
extract(dow FROM a)
extract(isodow FROM a)
extract(doy FROM a)
extract(week FROM a)
extract(isoyear FROM a)
extract(quarter FROM a)
extract(century FROM a)
extract(decade FROM a)
extract(millennium FROM a)
extract(julian FROM a)
date_part('hour', a)
date_part('second', a)
date_part('epoch', a)
date_trunc('microseconds', a)
date_trunc('milliseconds', a)
date_trunc('second', a)
date_trunc('minute', a)
date_trunc('hour', a)
date_trunc('day', a)
date_trunc('week', a)
date_trunc('month', a)
date_trunc('quarter', a)
date_trunc('year', a)
date_trunc('decade', a)
date_trunc('century', a)
date_trunc('millennium', a)
a AT TIME ZONE 'UTC'
a AT TIME ZONE 'Europe/Zurich'
a AT TIME ZONE 'America/New_York'
a AT TIME ZONE '+02'
a AT TIME ZONE interval '2 hours'
timezone('Asia/Kolkata', a)
to_char(a, 'YYYY-MM-DD HH24:MI:SS')
to_char(a, 'HH12:MI AM')
to_char(a, 'HH:MI:SS.MS')
to_char(a, 'US')
to_char(a, 'SSSS')
to_char(a, 'Dy, DD Mon YYYY')
to_char(a, 'FMMonth')
to_char(a, 'p.m. hh')
to_char(a, 'FF3')
to_char(a, 'YYYYMMDDHH24MISS')
to_char(a, 'TZ')
age(a, timestamp '2000-01-01')
age(timestamp '2024-02-29 12:00', a)
date_bin('15 minutes', a, timestamp '2001-01-01')
date_bin('1 day', a, timestamp '2001-01-01 05:00')
isfinite(a)
a < '2000-01-01'
a = '2020-02-29 12:34:56.789012'
a > date '2020-01-01'
a BETWEEN '2020-01-01' AND '2021-01-01'
coalesce(a, '2020-01-01')
greatest(a, '2020-01-01')
to_json(a)
to_jsonb(a)
concat(a)
a || ''
(a - timestamp '2020-01-01')::text
extract(day FROM a - timestamp '2020-01-01')
extract(epoch FROM a - timestamp '2020-01-01')
justify_hours(a - timestamp '2020-01-01')
floor(extract(epoch FROM a) / 300)
make_timestamp(2020, 1, 2, 3, 4, 5.5)

-- a timestamp, b timestamp
a - b
a < b
a = b
age(a, b)
extract(epoch FROM a - b)
extract(epoch FROM (a - b)) / 3600
greatest(a, b)
(a, b) OVERLAPS (b, a)
date_bin('1 hour', a, b)

-- a timestamp, b interval
a + b
a - b
b + a

-- a timestamptz
a + time '10:30'
a - time '10:30'
a + interval '1 month'
a + interval '1 day'
a - interval '2 hours'
a - timestamptz '2020-01-01 00:00+00'
a::date
a::time
a::timestamp
a::text
a::timestamptz(0)
a AT TIME ZONE 'UTC'
a AT TIME ZONE 'Europe/Zurich'
a AT TIME ZONE 'America/New_York'
(a AT TIME ZONE 'America/New_York')::date
a AT TIME ZONE 'Asia/Kolkata'
timezone('UTC', a)
extract(year FROM a)
extract(hour FROM a)
extract(epoch FROM a)
extract(dow FROM a)
extract(timezone FROM a)
extract(second FROM a)
date_part('hour', a)
date_trunc('day', a)
date_trunc('hour', a)
date_trunc('month', a)
date_trunc('day', a, 'America/New_York')
date_trunc('week', a AT TIME ZONE 'Europe/Zurich')
to_char(a, 'YYYY-MM-DD HH24:MI:SS')
to_char(a, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
to_char(a AT TIME ZONE 'America/New_York', 'HH24')
to_char(a, 'TZ')
to_char(a, 'OF')
age(a, timestamptz '2000-01-01 00:00+00')
date_bin('1 hour', a, timestamptz '2001-01-01 00:00+00')
a < '2000-01-01'
a = timestamptz '2020-02-29 12:34:56.789012+00'
a > date '2020-01-01'
a > timestamp '2020-01-01 00:00'
coalesce(a, '2020-01-01')
to_json(a)
to_jsonb(a)
concat(a)
a || ''

-- a timestamptz, b interval
a + b
a - b

-- a time
a + interval '1 hour'
a - interval '90 minutes'
a - time '12:00'
a::text
a::interval
a::time(0)
extract(hour FROM a)
extract(minute FROM a)
extract(second FROM a)
extract(epoch FROM a)
extract(milliseconds FROM a)
date_part('hour', a)
a < '12:00'
a = '23:59:59.999999'
a BETWEEN '08:00' AND '17:00'
to_char(a, 'HH24:MI')
to_char(a, 'FMHH12:MI:SS.US am')
date_trunc('hour', a)
date '2020-01-01' + a
coalesce(a, '00:00')
greatest(a, '12:00')
to_json(a)
concat(a)
(a, interval '1 hour') OVERLAPS (time '10:00', time '11:00')

-- a time, b time
a - b
a < b
a = b

-- a time, b interval
a + b
a - b

-- a interval
a::text
-a
a * 2
a * 1.5
a / 2
a / 7
a + interval '1 day'
a - interval '1 mon'
a = interval '1 day'
a < interval '1 month'
a > interval '30 days'
extract(year FROM a)
extract(month FROM a)
extract(day FROM a)
extract(hour FROM a)
extract(minute FROM a)
extract(second FROM a)
extract(epoch FROM a)
extract(quarter FROM a)
extract(decade FROM a)
extract(milliseconds FROM a)
date_part('day', a)
date_part('epoch', a)
date_trunc('hour', a)
date_trunc('day', a)
date_trunc('month', a)
justify_hours(a)
justify_days(a)
justify_interval(a)
isfinite(a)
a::time
to_char(a, 'HH24:MI:SS')
to_char(a, 'YYYY MM DD HH24 FMMI:SS')
to_char(a, 'DD "days"')
greatest(a, interval '1 day')
coalesce(a, interval '0')
nullif(a, interval '1 day')
a || ''
concat(a)
to_json(a)
a IN (interval '24 hours', interval '1 mon')
a BETWEEN interval '0' AND interval '1 month'
timestamp '2020-01-31' + a
date '2024-02-29' - a
extract(epoch FROM a) / 60
a::interval(0)
sign(extract(epoch FROM a))

-- a interval, b interval
a + b
a - b
a = b
a < b
greatest(a, b)

-- a interval, b small
a * b
a / b

-- a interval, b float8
a * b
a / b

-- a stamps
a::date
a::timestamp
a::timestamptz
to_date(a, 'YYYY-MM-DD')
to_timestamp(a, 'YYYY-MM-DD HH24:MI:SS')
to_timestamp(a, 'YYYY-MM-DD')

-- a small
make_date(2020, a, 1)
make_date(2024, 2, a)
make_time(a, 30, 0)
make_timestamp(2020, a, 1, 0, 0, 0)
make_timestamptz(2020, 1, a, 0, 0, 0)
make_interval(a)
make_interval(hours => a, mins => 30)
make_interval(secs => a)
a * interval '1 hour'
interval '1 day' * a
interval '1 month' / a
date '2020-01-31' + a
date '2020-01-31' + a * interval '1 month'
to_timestamp(a)
timestamp 'epoch' + a * interval '1 second'
(a || ' days')::interval
