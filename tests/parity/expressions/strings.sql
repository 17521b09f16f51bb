-- a text
upper(a)
lower(a)
initcap(a)
reverse(a)
length(a)
char_length(a)
octet_length(a)
bit_length(a)
ascii(a)
md5(a)
trim(a)
btrim(a)
ltrim(a)
rtrim(a)
trim(BOTH 'a ' FROM a)
trim(LEADING 'x' FROM a)
trim(TRAILING FROM a)
quote_literal(a)
quote_ident(a)
quote_nullable(a)
substring(a FROM 2 FOR 3)
substring(a FROM 'b.*')
substring(a FROM '([a-z])[0-9]')
substring(a SIMILAR '%#"b#"%' ESCAPE '#')
position('b' IN a)
overlay(a PLACING 'XX' FROM 2)
overlay(a PLACING 'XX' FROM 2 FOR 1)
a || 'x'
a || 1
a || NULL
'<' || a || '>'
a::char(3) || '|'
a::varchar(2)
sha256(convert_to(a, 'UTF8'))
encode(convert_to(a, 'UTF8'), 'hex')
encode(convert_to(a, 'UTF8'), 'base64')
format('%s-%s', a, 1)
format('%I', a)
format('%L', a)
format('%10s|%-5s|', a, a)
format('%2$s %1$s %%', a, 'z')
unistr(a)
to_ascii(a)
a COLLATE "C" < 'b'
a < 'b'
a BETWEEN 'A' AND 'b'
a IN ('abc', '', NULL)
a LIKE 'a%'
a LIKE '%b_'
a LIKE 'a\%'
a LIKE '%\\%'
a LIKE 'a!%' ESCAPE '!'
a LIKE ''
a NOT LIKE '%a%'
a ILIKE 'A%'
a ILIKE '%É%'
a NOT ILIKE 'ß%'
a SIMILAR TO '(a|b)%'
a NOT SIMILAR TO '_b*'
a SIMILAR TO 'a+|[[:digit:]]{2,}'
a ~ '^a'
a ~* '^A'
a !~ '[0-9]+'
a !~* 'STRA'
a ~ '\d'
a ~ '^\s'
a ~ '\mabc\M'
a ~ 'b$'
a ~ '[[:alpha:]]'
a ~ '^[^a-c]*$'
a ~ '(a)(b)?'
a ~ '\w+\s\w+'
regexp_like(a, 'a.c')
regexp_like(a, 'A.C', 'i')
regexp_count(a, 'a')
regexp_count(a, '[ab]', 2)
regexp_count(a, 'A', 1, 'i')
regexp_instr(a, 'b')
regexp_instr(a, 'b', 1, 2)
regexp_substr(a, '[a-z]+')
regexp_substr(a, '[a-z]', 2)
regexp_substr(a, '[a-z]+', 1, 2)
regexp_replace(a, 'a', 'X')
regexp_replace(a, 'a', 'X', 'g')
regexp_replace(a, 'A', 'x', 'gi')
regexp_replace(a, '(a)(b)', '\2\1')
regexp_replace(a, '(b)', '[\1]', 'g')
regexp_replace(a, '^', '>')
regexp_replace(a, '\s+', ' ', 'g')
regexp_replace(a, '[^a-z]', '', 'g')
regexp_replace(a, 'b', '\&\&')
regexp_match(a, 'b(.)')
(regexp_match(a, '([a-z])(.)'))[1]
(regexp_match(a, '[0-9]+'))[1]
(regexp_match(a, 'B', 'i'))[1]
substring(a FROM '(\w+) ')
substring(a FROM '[[:alpha:]]+([0-9]+)')
(regexp_match(a, '(\w)(\W)?'))[1]
regexp_split_to_array(a, ' ')
regexp_split_to_array(a, '\s*')
regexp_split_to_array(a, '')
string_to_array(a, ' ')
string_to_array(a, '')
string_to_array(a, NULL)
string_to_array(a, ',', 'b')
split_part(a, ' ', 1)
split_part(a, 'b', 2)
split_part(a, ' ', -1)
split_part(a, '', 1)
replace(a, 'a', 'bb')
replace(a, '', NULL)
replace(a, '\', '/')::bytea
replace(a, '', 'x')
translate(a, 'abc', 'xy')
translate(a, 'a', '')
starts_with(a, 'a')
a ^@ 'ab'
concat(a, 'x', NULL, 1)
concat(a, true, 1.50, date '2020-01-02')
concat_ws(',', a, NULL, 'z')
concat_ws(NULL, a, 'z')
concat_ws('-', a, 1, false)
num_nulls(a, 1, NULL)
num_nonnulls(a, 1, NULL)
coalesce(a, 'none')
nullif(a, 'abc')
greatest(a, 'b')
least(a, 'b', NULL)
a IS NULL
a IS DISTINCT FROM 'abc'
a IS NOT DISTINCT FROM NULL
CASE a WHEN 'abc' THEN 1 WHEN '' THEN 2 ELSE 3 END
CASE WHEN a > 'b' THEN a END
left(a, 2)
left(a, -1)
right(a, 2)
right(a, -2)
lpad(a, 5)
lpad(a, 5, 'xy')
rpad(a, 5, '')
repeat(a, 2)
normalize(a)
a IS NORMALIZED
string_to_array(a, ' ')::text
to_json(a)
to_jsonb(a)
hashtext(a)

-- a text, b small
left(a, b)
right(a, b)
lpad(a, b)
rpad(a, b)
lpad(a, b, 'xyz')
rpad(a, b, 'é')
repeat(a, b)
substr(a, b)
substring(a, b)
split_part(a, ' ', b)
substring(a FROM b FOR 2)
substring(a FOR b)
a || b
concat(a, b)

-- a text, b small, c small
substr(a, b, c)
substring(a FROM b FOR c)
overlay(a PLACING 'é' FROM b FOR c)

-- a text, b text
a || b
strpos(a, b)
position(b IN a)
starts_with(a, b)
replace(a, b, '-')
replace(a, '', b)
split_part(a, b, 1)
a = b
a <> b
a < b
a <= b
a > b
a >= b
a IS DISTINCT FROM b
greatest(a, b)
least(a, b)
coalesce(a, b)
nullif(a, b)
translate(a, b, 'z')
btrim(a, b)
ltrim(a, b)
rtrim(a, b)
concat(a, b)
concat_ws(a, b, 'x')
string_to_array(a, b)
a LIKE b
a ILIKE b
a LIKE '%' || b || '%'
a ~ b
(a, b) < (b, a)
(a, b) = (b, a)
a ~<~ b
lpad(a, 6, b)

-- a small
chr(a + 60)
to_hex(a)
lpad(a::text, 3, '0')

-- a bpchar
a || '|'
length(a)
octet_length(a)
upper(a)
a = 'ab'
a = 'ab '
a < 'b'
a LIKE 'ab%'
a LIKE 'ab   '
a::text || '|'
a::varchar || '|'
a ~ 'b$'
concat(a, '|')
left(a, 2)
right(a, 2)
substring(a, 2, 2)
trim(a)
replace(a, ' ', '_')
reverse(a)
md5(a)
coalesce(a, 'x')
a IN ('ab', 'x')
to_jsonb(a)
lpad(a, 7, '*')
initcap(a)
position('b' IN a)
a IS NOT NULL
bit_length(a)
format('%s|%L', a, a)
a::bpchar LIKE 'ab   '
concat(a::bpchar, '|')
coalesce(a, 'none') LIKE 'none'
coalesce(a, 'none') = 'none '
concat(coalesce(a, 'none'), '|')
octet_length(coalesce(a, 'none'))
length(coalesce(a, 'none'))
to_jsonb(coalesce(a, 'none'))
(CASE WHEN a = 'ab' THEN 'two' ELSE a END) LIKE '%o'
concat(greatest(a, 'b'), '|')
concat(nullif(coalesce(a, 'none'), 'none '), '|')
to_jsonb(ARRAY[a])

-- a bpchar, b text
a = b
a < b
a || b
coalesce(a, b)
CASE WHEN a = 'ab' THEN a ELSE b END
greatest(a, b)
b LIKE a

-- a bpchar, b bpchar
a = b
a < b
a || b
nullif(a, b)
greatest(a, b)

-- a varchar
a || 'x'
upper(a)
a = 'abc'
a < 'b'
length(a)
a::text
greatest(a, 'b')
CASE WHEN a > 'a' THEN a ELSE 'low' END

-- a uuid
a::text
a < '88888888-8888-8888-8888-888888888888'
a = '00000000-0000-0000-0000-000000000000'
upper(a::text)
a || 'x'
coalesce(a, '00000000-0000-0000-0000-000000000000')
replace(a::text, '-', '')
to_json(a)

-- a bytea
encode(a, 'hex')
encode(a, 'base64')
encode(a, 'escape')
length(a)
octet_length(a)
bit_length(a)
md5(a)
sha256(a)
sha512(a)
a = '\x00ff'
a < '\x01'
a || '\x01'
substring(a, 1, 1)
substring(a FROM 2)
get_byte(a, 0)
a::text
position('\xff' IN a)
convert_from(a, 'UTF8')
decode(encode(a, 'hex'), 'hex')
bit_count(a)
