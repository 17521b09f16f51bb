-- a int4range
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
upper(a) - lower(a)
a @> 3
3 <@ a
a @> NULL
a && '[2,4]'
a = '[1,4]'
a <> 'empty'
a @> '(1,3)'
a <@ '(,10]'
a << '[5,]'
a &< int4range(1, 5, '[]')
a -|- int4range(5, NULL)
a @> int4range(3, 3)
a IN ('[1,5)', '(4,8]')
a BETWEEN '[1,5)' AND '[3,)'
a < '[1,5)'
coalesce(lower(a), 0)
a::text
lower(a::text)
coalesce(a, '[1, 4]')::text
int4range '(1,2)'::text
(a * '[2,7]')::text
range_merge(a, '[1,2)')::text
(a + '[5,6)')::text
-- a int4range, b int4range
CASE WHEN a && b THEN a + b END::text
(a - b)::text
range_merge(a, b)::text
isempty(a - b)
lower(CASE WHEN a -|- b THEN a + b END)
upper(a - b)
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a int4range, b small
int4range(b, b + 2, '[]')::text
int4range(b, NULL, '()')::text
a @> b
b <@ a
a && int4range(b, b + 2)
a @> int4range(b, NULL, '()')
lower(int4range(b, NULL, '()'))
upper(int4range(NULL, b, '[]'))
upper_inc(int4range(NULL, b, '[]'))
isempty(int4range(b, b))
isempty(int4range(b, b + 1, '()'))
lower(a * int4range(b, b + 3))
int4range(b, b + 1) = int4range(b, b, '[]')
int4range(b, b + 1)::text
-- a int8range
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a @> 4::int8
a && '[4,4]'
-- a int8range, b int8range
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a int8range, b int8
a @> b
int8range(b, NULL) && a
-- a numrange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a @> 1.0
a @> 2.5
a = '[1,2)'
a && '(2,2.5)'
upper(a) - lower(a)
lower(a) = 1
-- a numrange, b numrange
CASE WHEN a && b THEN a + b END::text
(a - b)::text
range_merge(a, b)::text
isempty(a - b)
lower(CASE WHEN a -|- b THEN a + b END)
upper(a - b)
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a numrange, b numeric(8,2)
a @> b
b <@ a
numrange(b, NULL) @> a
isempty(numrange(b, b))
lower(numrange(b, b, '[]'))
-- a daterange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
upper(a) - lower(a)
a @> date '2020-02-29'
a && '[2020-02-29,2020-03-05]'
a && daterange('2020-02-29', '2020-03-05', '[]')
a = '[2020-02-29,2020-03-01]'
extract(year from lower(a))
-- a daterange, b daterange
CASE WHEN a && b THEN a + b END::text
(a - b)::text
range_merge(a, b)::text
isempty(a - b)
lower(CASE WHEN a -|- b THEN a + b END)
upper(a - b)
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a daterange, b date
daterange(b, NULL, '()')::text
coalesce(a, daterange(NULL, b, '[]'))::text
a @> b
daterange(b, NULL) && a
a -|- daterange(b, NULL)
upper(daterange(NULL, b, '[]'))
-- a date, b date
daterange(least(a, b), greatest(a, b)) && '[2000-01-01,2020-06-01)'
isempty(daterange(least(a, b), greatest(a, b)))
-- a tsrange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
upper(a) - lower(a)
a @> timestamp '2020-02-29 12:34:56.789012'
a && '[2020-02-29,2020-03-05]'
a << tsrange('2020-03-01', NULL)
date_trunc('day', lower(a))
a @> '[2020-03-01,2020-03-01]'
-- a tsrange, b tsrange
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a tsrange, b timestamp
tsrange(b, NULL)::text
tsrange(b, b + interval '1 us', '(]')::text
a @> b
b <@ a
tsrange(b, b + interval '1 day') && a
-- a tstzrange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
upper(a) - lower(a)
a @> timestamptz '2020-02-29 12:34:56.789012+00'
a && '[2020-02-29,2020-03-05 02:00+02]'
a @> now()
-- a tstzrange, b tstzrange
a < b
a <= b
a > b
a >= b
a = b
a <> b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
a IS DISTINCT FROM b
NOT (a && b)
lower(a * b)
upper(a * b)
lower_inc(a * b)
upper_inc(a * b)
isempty(a * b)
lower_inf(a * b)
a * b @> b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
-- a tstzrange, b timestamptz
tstzrange(NULL, b)::text
a @> b
tstzrange(b, NULL) && a
upper(a * tstzrange(b, NULL)) - lower(a * tstzrange(b, NULL))
