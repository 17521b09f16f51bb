-- a int4multirange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a::text
range_merge(a)::text
a @> 3
3 <@ a
a @> NULL::int
a = '{[1,5)}'
a <> '{}'
a && '{[2,4),[6,7)}'
a && '[2,4)'::int4range
a @> '{[3,4)}'
a @> '[3,4)'::int4range
'{[1,4),[2,6),empty,[8,9]}'::int4multirange::text
(a + '{[3,5)}')::text
(a - '{[3,5)}')::text
(a * '{[3,5),(6,7]}')::text
a - '{(,)}' = '{}'
coalesce(a, '{}')::text
coalesce(a, '{[1, 4], [4,6]}')::text
a IN ('{[1,5)}', '{}')
int4multirange()::text
lower(a) IS NULL
upper(a) - lower(a)
a < '{[1,5)}'
-- a int4multirange, b int4multirange
a = b
a <> b
a IS DISTINCT FROM b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
NOT (a && b)
(a + b)::text
(a * b)::text
(a - b)::text
isempty(a * b)
lower(a - b)
upper(a + b)
a * b <@ a
(a + b) - b && b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
range_merge(a + b)::text
-- a int4multirange, b int4range
a @> b
b <@ a
b @> a
a && b
b && a
a << b
b << a
a >> b
b >> a
a &< b
b &< a
a &> b
b &> a
a -|- b
b -|- a
multirange(b)::text
a - multirange(b) && a
(a * multirange(b))::text
-- a nummultirange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a::text
range_merge(a)::text
a @> 2.0
a @> 2.5
a @> 0.0010
a = '{[1.00,2)}'
a && '{[2,2]}'
'{[1.50,2),[2,3.0]}'::nummultirange::text
-- a nummultirange, b nummultirange
a = b
a <> b
a IS DISTINCT FROM b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
NOT (a && b)
(a + b)::text
(a * b)::text
(a - b)::text
isempty(a * b)
lower(a - b)
upper(a + b)
a * b <@ a
(a + b) - b && b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
range_merge(a + b)::text
-- a nummultirange, b numrange
a @> b
b <@ a
b @> a
a && b
b && a
a << b
b << a
a >> b
b >> a
a &< b
b &< a
a &> b
b &> a
a -|- b
b -|- a
multirange(b)::text
a - multirange(b) && a
(a * multirange(b))::text
-- a datemultirange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a::text
range_merge(a)::text
a @> date '2020-02-29'
a && '{[2020-03-01,2020-03-05]}'
upper(a) - lower(a)
extract(year from lower(a))
(a - '{[2020-02-29,2020-02-29]}')::text
-- a datemultirange, b datemultirange
a = b
a <> b
a IS DISTINCT FROM b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
NOT (a && b)
(a + b)::text
(a * b)::text
(a - b)::text
isempty(a * b)
lower(a - b)
upper(a + b)
a * b <@ a
(a + b) - b && b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
range_merge(a + b)::text
-- a datemultirange, b daterange
a @> b
b <@ a
b @> a
a && b
b && a
a << b
b << a
a >> b
b >> a
a &< b
b &< a
a &> b
b &> a
a -|- b
b -|- a
multirange(b)::text
a - multirange(b) && a
(a * multirange(b))::text
-- a tsmultirange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a::text
range_merge(a)::text
a @> timestamp '2020-02-29 12:34:56.789012'
a && '{[2020-03-01,2020-03-05]}'
upper(a) - lower(a)
(a - '{[2020-02-29,2020-02-29 01:00]}')::text
-- a tsmultirange, b tsmultirange
a = b
a <> b
a IS DISTINCT FROM b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
NOT (a && b)
(a + b)::text
(a * b)::text
(a - b)::text
isempty(a * b)
lower(a - b)
upper(a + b)
a * b <@ a
(a + b) - b && b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
range_merge(a + b)::text
-- a tsmultirange, b tsrange
a @> b
b <@ a
b @> a
a && b
b && a
a << b
b << a
a >> b
b >> a
a &< b
b &< a
a &> b
b &> a
a -|- b
b -|- a
multirange(b)::text
a - multirange(b) && a
(a * multirange(b))::text
-- a tstzmultirange
lower(a)
upper(a)
isempty(a)
lower_inc(a)
upper_inc(a)
lower_inf(a)
upper_inf(a)
a IS NULL
a::text
range_merge(a)::text
a @> timestamptz '2020-02-29 12:34:56.789012+00'
upper(a) - lower(a)
-- a tstzmultirange, b tstzmultirange
a = b
a <> b
a IS DISTINCT FROM b
a && b
a @> b
a <@ b
a << b
a >> b
a &< b
a &> b
a -|- b
NOT (a && b)
(a + b)::text
(a * b)::text
(a - b)::text
isempty(a * b)
lower(a - b)
upper(a + b)
a * b <@ a
(a + b) - b && b
CASE WHEN a && b THEN lower(a) ELSE upper(b) END
range_merge(a + b)::text
-- a tstzmultirange, b tstzrange
a @> b
b <@ a
b @> a
a && b
b && a
a << b
b << a
a >> b
b >> a
a &< b
b &< a
a &> b
b &> a
a -|- b
b -|- a
multirange(b)::text
a - multirange(b) && a
(a * multirange(b))::text
-- a int4multirange, b small
a @> b
b <@ a
a && int4multirange(int4range(b, b + 2))
(a - int4multirange(int4range(b, b + 2)))::text
a @> int4range(b, NULL)
-- a int4range, b int4range
a::int4multirange::text
CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN int4multirange(a, b) END::text
int4multirange(coalesce(b, 'empty'), coalesce(a, '[3,4)'), '[7,8)')::text
int4multirange(a) @> b
multirange(a) + multirange(b) = int4multirange(coalesce(a, '(,)'), coalesce(b, '(,)'))
-- a numrange, b numrange
nummultirange(coalesce(a, '(,1.0)'), coalesce(b, '[2,2.50]'))::text
nummultirange(a) - nummultirange(b) = nummultirange(a) - nummultirange(a * b)
