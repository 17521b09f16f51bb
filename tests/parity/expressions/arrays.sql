-- a int4[]
a[1]
a[2]
a[0]
a[-1]
a[1:2]
a[2:]
a[:1]
array_length(a, 1)
array_length(a, 2)
cardinality(a)
array_upper(a, 1)
array_lower(a, 1)
array_ndims(a)
array_dims(a)
a || 4
4 || a
a || NULL::int
a || array[7, 8]
a || '{9}'
array_append(a, 5)
array_prepend(5, a)
array_cat(a, array[1])
array_remove(a, 1)
array_remove(a, NULL)
array_replace(a, 1, 100)
array_position(a, 2)
array_position(a, NULL)
array_positions(a, 1)
array_to_string(a, ',')
array_to_string(a, ',', '*')
trim_array(a, 1)
array_fill(0, array[2])
a = array[1, 2]
a = '{}'
a <> array[1, 2]
a < array[1, 3]
a @> array[1]
a @> '{}'
a <@ array[1, 2, 3]
a && array[1, 9]
1 = ANY (a)
NULL = ANY (a)
2 <> ALL (a)
3 > ANY (a)
3 > ALL (a)
1 = ALL (a)
a::text
a::int8[]
a::text[]
a IS NULL
coalesce(a, '{}')
a IS DISTINCT FROM array[1, 2]
to_json(a)
to_jsonb(a)
array_to_json(a)
greatest(a, array[1])
a[1] + a[2]
concat(a)
(select sum(x) from unnest(a) x)
(select max(x) from unnest(a) x)
(select count(*) from unnest(a) x where x > 1)
(select array_agg(x order by x desc) from unnest(a) x)
(select string_agg(x::text, '+' order by o) from unnest(a) with ordinality u(x, o))
exists (select 1 from unnest(a) x where x = 2)
width_bucket(2, a)

-- a int4[], b int4[]
a || b
a = b
a < b
a @> b
a <@ b
a && b
array_cat(a, b)

-- a int4[], b small
a[b]
a || b
b = ANY (a)
b > ALL (a)
b <> ANY (a)
array_position(a, b)
array_remove(a, b)
a[b:3]
trim_array(a, b)
array_fill(b, array[2])

-- a text[]
a[1]
a[2]
array_length(a, 1)
cardinality(a)
a || 'x'
'x' || a
array_append(a, 'x')
array_remove(a, 'b')
array_replace(a, 'b', 'c')
array_position(a, 'b')
array_to_string(a, ',')
array_to_string(a, ' ', 'NULL')
a = array['a', 'b']
a < array['b']
a @> array['a']
a && array['a', 'z']
'a' = ANY (a)
'a' < ALL (a)
'b%' LIKE ANY (a)
a[1] LIKE ANY (array['a%', '%b'])
a::text
upper(a[1])
to_json(a)
to_jsonb(a)
array_to_string(array_remove(a, NULL), '-')
(select string_agg(x, ',' order by x) from unnest(a) x)

-- a text, b text
array[a, b]
array[a, b][2]
array_to_string(array[a, b], ',')
array_length(array[a, b], 1)
a = ANY (array[b, 'abc'])
a LIKE ANY (array['a%', b])
a NOT LIKE ALL (array['a%', '%z'])
cardinality(string_to_array(a, ' '))
a = ANY (string_to_array(b, ' '))
array[a]::text

-- a int4, b int4
array[a, b]
array[a, b] @> array[1]
array[[a, b], [1, 2]]
(array[a, b])[1]
array[a, b] || 3
array[a, b]::text
