-- a jsonb
a -> 'k'
a ->> 'k'
a -> 'n'
a ->> 'n'
a -> 0
a ->> 0
a -> -1
a #> '{k,b}'
a #>> '{k,b}'
a #>> '{}'
a #> '{}'
a @> '[{"k": 1}]'
a @> '{"k": [{"b": 1}]}'
a #>> '{k,0}'
a -> 'k' -> 'b'
(a ->> 'k')::int
(a ->> 'n')::numeric
(a -> 'n')::int
(a -> 'n')::numeric
(a -> 'n')::float8
(a ->> 'n')::float8 + 1
(a -> 'f')::bool
a['k']
a[0]
a['k']['b']
a @> '{"k": 1}'
a @> '{"k": {"b": 2}}'
a @> '[1]'
a @> '1'
a @> '"x"'
a @> '{}'
a @> '[]'
a @> '[[1]]'
a <@ '{"k": 1, "n": 2}'
a ? 'k'
a ? 'x'
a ?| array['k', 'z']
a ?& array['k', 'n']
a || '{"z": 1}'
a || '[9]'
'{"z": 1}'::jsonb || a
a - 'k'
a - NULL::text
a ->> ''
jsonb_build_object('', a) -> ''
jsonb_build_object('', a) ->> ''
a - 0
a - -1
a - '{k,n}'::text[]
a #- '{k,b}'
a = '{"k": 1}'
a = '1'
a = '1.0'
a <> '{"k": 1}'
a < '2'
a > '[]'
a::text
jsonb_typeof(a)
jsonb_typeof(a -> 'k')
jsonb_array_length(a)
jsonb_strip_nulls(a)
jsonb_pretty(a)
jsonb_set(a, '{k}', '9')
jsonb_set(a, '{k,b}', '"new"')
jsonb_set(a, '{z}', '1', false)
jsonb_set(a, '{0}', '7')
jsonb_insert(a, '{0}', '7')
jsonb_insert(a, '{z}', '7')
jsonb_extract_path(a, 'k', 'b')
jsonb_extract_path_text(a, 'k')
jsonb_path_query_first(a, '$.k')
jsonb_path_exists(a, '$.k')
a @? '$.k'
a @@ '$.k == 1'
a IS NULL
a IS NOT NULL
a -> 'k' IS NULL
a ->> 'k' IS NULL
coalesce(a ->> 'k', 'none')
coalesce(a, '{}')
a IS DISTINCT FROM '{"k": 1}'
a IN ('1', '{"k": 1}')
a ->> 'k' = '1'
a -> 'k' = '1'
jsonb_build_object('a', a)
jsonb_build_array(a, 1, 'x', NULL)
to_jsonb(a)
to_json(a)
a::json
a || 'null'
concat(a)
length(a::text)
a -> 'absent' -> 'b'
a #> '{}'
a #>> '{1}'
case when jsonb_typeof(a) = 'object' then a -> 'k' end
jsonb_object_field_text(a, 'k')
row_to_json(row(a))
md5(a::text)
upper(a ->> 'k')

-- a jsonb, b jsonb
a = b
a <> b
a < b
a @> b
a || b
greatest(a, b)
nullif(a, b)
coalesce(a, b)

-- a json
a -> 'k'
a ->> 'k'
a -> 0
a #>> '{k,b}'
(a ->> 'n')::numeric
a::text
a::jsonb
json_typeof(a)
json_array_length(a)
json_extract_path_text(a, 'k')
json_strip_nulls(a)
a ->> 'k' = '1'
json_build_object('a', a)
a IS NULL

-- a int4, b text
json_build_object('a', a, 'b', b)
jsonb_build_object('a', a, 'b', b)
jsonb_build_object(coalesce(b, 'k'), a)
json_build_array(a, b)
jsonb_build_array(a, b, NULL, true)
to_jsonb(array[a, 1])
jsonb_build_object('x', jsonb_build_array(a, b), 'y', array[b])
jsonb_object(array['k', b])
json_object(array['k'], array[b])
row_to_json(row(a, b))
array_to_json(array[a])
jsonb_build_object('n', a) ->> 'n'
jsonb_build_object('n', a) @> '{"n": 1}'
