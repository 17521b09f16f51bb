-- a int4
a + 1
a - 1
a * 2
a / 2
a / -3
a % 3
a % -3
-a
+a
@ a
abs(a)
sign(a)
a & 6
a | 1
a # 5
~a
a << 2
a >> 1
mod(a, 4)
div(a, 4)
power(a, 2)
a ^ 2
a ^ 0.5
sqrt(a)
|/ a
||/ a
cbrt(a)
exp(a)
ln(a)
log(a)
log10(a)
log(2, a)
factorial(a)
gcd(a, 12)
lcm(a, 4)
round(a)
round(a, -1)
trunc(a)
ceil(a)
floor(a)
a::text
a::float8
a::float4
a::numeric
a::numeric(10,2)
a::int2
a::int8
a::bool
a::char(3)
a::varchar
cast(a AS text) || 'x'
a / 2.0
a * 1.5
a + 0.25
a::float8 / 3
a BETWEEN 0 AND 10
a IN (1, 2, NULL)
a NOT IN (1, 2)
a NOT IN (1, NULL)
a = ANY (ARRAY[1, 2])
a = ANY ('{1,7,NULL}')
a <> ALL (ARRAY[1, 2])
a > ANY (ARRAY[1, 2])
a < ALL (ARRAY[10, NULL])
a IS DISTINCT FROM 1
coalesce(a, 0)
coalesce(a, 1.5)
nullif(a, 0)
greatest(a, 1, NULL)
least(a, 2.5)
CASE WHEN a > 0 THEN 'p' WHEN a < 0 THEN 'n' ELSE 'z' END
CASE a WHEN 1 THEN 1.5 ELSE 2 END
CASE WHEN a > 0 THEN a ELSE 0.5 END
to_hex(a)
to_char(a, '999')
to_char(a, '9,999')
to_char(a, '0000')
to_char(a, 'FM999,999')
to_char(a, 'S999')
to_char(a, '999PR')
to_char(a, 'FM0000')
to_char(a, '999th')
to_char(a, 'RN')
to_char(a, '9.99')
to_char(a, '999MI')
to_char(a, 'XXXX')
width_bucket(a, 0, 100, 10)
width_bucket(a, ARRAY[0, 10, 100])
num_nulls(a)
to_json(a)
to_jsonb(a)
hashint4(a)
sin(a)
make_interval(days => a)
a * interval '1 day'
quote_literal(a)
bit_count(a)
a::bit(8)
trim_scale(a)
scale(a)
random()
a = 1.0
a < 1.5
a = '1'
a > '0'
a::text < '5'
not (a = 1)
a = 1 OR a IS NULL
a = 1 AND NULL
(a > 0) IS TRUE
(a > 0) IS NOT TRUE
(a > 0) IS FALSE
(a > 0) IS UNKNOWN
(a > 0) IS NOT UNKNOWN
(a > 0)::int
(a > 0)::text
(a > 0) = true
(a > 0) < (a < 5)
row(a, 1) = row(1, 1)
row(a, 2) < row(2, 1)
(a, 1) IN ((1, 1), (7, 1))
row(a, NULL) IS NULL
row(a, 1) IS NOT NULL
row(a, 1) IS DISTINCT FROM row(1, 1)

-- a int4, b int4
a + b
a - b
a * b
a / b
a % b
a & b
a | b
a # b
a = b
a <> b
a < b
a >= b
gcd(a, b)
lcm(a, b)
div(a, b)
mod(a, b)
power(a, b)
a IS DISTINCT FROM b
greatest(a, b)
nullif(a, b)
a::numeric / b
a::float8 / b
(a / b) * b + a % b
a * 100.0 / b
round(a * 100.0 / b, 2)
round(a::numeric / b, 3)
atan2(a, b)
log(a, b)
(a < b) AND (b < 5)
(a < b) OR (b IS NULL)
least(a, b) + greatest(a, b)
case when b <> 0 then a / b end

-- a int2
a + a
a * 2
a / 2::int2
a % 2::int2
-a
abs(a)
a::int4
a::text
a & 3::int2
~a
a << 1
a + 1::int8
a + 1.5
a + 1::float4
sum_scale(a)
round(a)
a::bool

-- a int2, b int2
a + b
a - b
a * b
a / b
a % b
a < b
greatest(a, b)

-- a int8
a + 1
a - 1
a * 2
a / 3
a % 10
-a
abs(a)
sign(a)
a::int4
a::int2
a::text
a::float8
a::float4
a::numeric
a::numeric / 3
a & 255
a | 1
a # 1
~a
a << 1
a >> 2
to_hex(a)
gcd(a, 6)
lcm(a, 2)
sqrt(a)
factorial(a)
a = 9007199254740993
a < 9007199254740992.5
a::float8 = 9007199254740992
a / 2.0
round(a / 7.0, 4)
to_timestamp(a)
to_char(a, '999,999,999')
width_bucket(a, 0, 10, 5)
a::bool
chr(a)
power(a, 2)
mod(a, 7)

-- a int8, b int8
a + b
a - b
a * b
a / b
a % b
a < b
a & b
greatest(a, b)

-- a numeric(12,4)
a + 1
a - 0.5
a * 1.1
a * a
a / 3
a / 0.7
a % 1
a % 0.3
-a
abs(a)
sign(a)
round(a)
round(a, 2)
round(a, 0)
round(a, -1)
round(a, 6)
trunc(a)
trunc(a, 1)
trunc(a, -2)
ceil(a)
ceiling(a)
floor(a)
mod(a, 7)
div(a, 3)
power(a, 2)
a ^ 3
sqrt(a)
exp(a / 100000000)
ln(a)
log(a)
log(2.0, a)
a::int4
a::int8
a::int2
a::text
a::float8
a::float4
a::numeric(10,1)
a::numeric(6,2)
a::numeric
a::bool
a::varchar
a || ''
a = 1.5
a > 1
a = 0.5::float8
a BETWEEN -1 AND 2.5
coalesce(a, 0)
nullif(a, 0)
greatest(a, 1)
scale(a)
min_scale(a)
trim_scale(a)
width_bucket(a, 0, 10, 5)
to_char(a, '999.99')
to_char(a, 'FM999999990.00')
to_char(a, 'FM999,999,990.00')
to_char(a, '99999')
to_char(a, 'S9999.9')
to_char(a, 'L999.99')
to_char(a, '0.9')
to_char(a, '9.99EEEE')
to_char(a, 'FM9999.99')
to_char(a, '999D9')
to_char(a, '999G999D99')
to_char(a, '$999,999.99')
gcd(a, 2.5)
lcm(a, 2.5)
factorial(a)
to_json(a)
to_jsonb(a)
concat(a, 'x')
a * interval '1 hour'
a::money
atan(a)
a * 2::float8
a / 2::int8
a + 1::float4
case when a > 0 then a else 0 end
case when a > 0 then round(a, 1) else 7 end
format('%s', a)
quote_literal(a)
to_number(a::text, '999999999.9999')

-- a numeric(12,4), b numeric(8,2)
a + b
a - b
a * b
a / b
a % b
a = b
a < b
greatest(a, b)
round(a / b, 2)
round(a * b, 1)
trunc(a / b, 4)
power(a, b)
mod(a, b)
div(a, b)
gcd(a, b)
coalesce(a, b)
case when a > b then a else b end
a IN (b, 1)
nullif(a, b)
log(a, b)
a % b + div(a, b) * b

-- a numeric(8,2), b small
round(a, b)
trunc(a, b)
a * b
a / b
a ^ b
power(a, b)
round(a * 1.005, b)

-- a numeric
a + 1
a * 2
a / 3
round(a, 2)
a::text
a::int4
a = 1
a < 'NaN'
abs(a)
a::float8
trunc(a)
scale(a)
coalesce(a, 0)
a || 'x'
to_jsonb(a)

-- a float8
a + 1
a - 0.5
a * 2
a / 3
-a
abs(a)
sign(a)
round(a)
trunc(a)
ceil(a)
floor(a)
sqrt(a)
cbrt(a)
exp(a)
ln(a)
log(a)
power(a, 2)
power(2, a)
a ^ 0.5
sin(a)
cos(a)
tan(a)
cot(a)
asin(a)
acos(a)
atan(a)
atan2(a, 1)
sinh(a)
cosh(a)
tanh(a)
asinh(a)
acosh(a)
atanh(a)
sind(a)
cosd(a)
tand(a)
cotd(a)
asind(a)
acosd(a)
atand(a)
atan2d(a, 2)
degrees(a)
radians(a)
pi() * a
a::int4
a::int8
a::int2
a::text
a::float4
a::numeric
a::numeric(20,4)
round(a::numeric, 2)
round(a::numeric(20,6), 1)
a::varchar
a || 'x'
a = 'NaN'
a > 1e10
a < 'Infinity'
a = 0
a = -0.0
a IN (0.5, 'NaN')
a IS DISTINCT FROM 'NaN'
greatest(a, 0)
least(a, 'NaN')
coalesce(a, 0)
nullif(a, 'NaN')
to_char(a, '999.99')
width_bucket(a, 0, 10, 5)
to_json(a)
to_jsonb(a)
concat(a, '|')
a * interval '1 day'
to_timestamp(a)
mod(a::numeric, 2)
a BETWEEN -1 AND 1
case when a > 0 then a else 0 end
floor(a)::int
ceil(a / 2)::bigint
a::bool
format('%s', a)

-- a float8, b float8
a + b
a - b
a * b
a / b
a = b
a < b
a >= b
a <> b
greatest(a, b)
least(a, b)
power(a, b)
atan2(a, b)
nullif(a, b)
a IS NOT DISTINCT FROM b

-- a float4
a + 1
a * 2
a / 3
a * a
a + 1.5
a + 1::float8
a::float8
a::text
a::numeric
a::int4
a = 0.1
a = 0.1::float4
a > 1
abs(a)
round(a)
a || ''
to_json(a)
greatest(a, 0)
-a
sqrt(a)
concat(a)
a::numeric(10,3)

-- a float4, b float4
a + b
a - b
a * b
a / b
a = b
a < b

-- a bool
not a
a AND true
a AND NULL
a OR false
a OR NULL
a IS TRUE
a IS NOT FALSE
a IS UNKNOWN
a = false
a < true
a::int
a::text
a::varchar
a || 'x'
concat(a)
coalesce(a, false)
nullif(a, true)
greatest(a, false)
case when a then 1 else 0 end
case a when true then 'y' when false then 'n' end
to_json(a)
to_jsonb(a)
a IN (true, NULL)
a IS DISTINCT FROM true
quote_literal(a)
format('%s', a)
format('%L', a)
num_nulls(a, NULL)
'<' || a || '>'

-- a bool, b bool
to_json(array[a, b])
to_jsonb(array[a, NULL, b])
a AND b
a OR b
a = b
a <> b
a < b
a IS DISTINCT FROM b
not (a AND b)
case when a then b end
coalesce(a, b)

-- a digits
a::int
a::int8
a::int2
a::float8
a::numeric
a::numeric(8,2)
a::bool
a::date
a::interval
trim(a)::int
cast(a AS numeric(6,1))
to_number(a, '999')
to_number(a, '9,999.99')
nullif(a, '')::int
length(a)
