-- view: a_table_with_a_blank
SELECT "Item Id" AS id, x FROM "Order Items";
-- view: a_table_named_as_a_variable
SELECT v.id, v.x = ANY(v.arr) AS one, v.x <> ALL(v.arr) AS none, array_remove(v.arr, v.x) AS r, array_position(v.arr, v.x) AS p, v.names::text AS t FROM v;
-- view: twice_a_table_named_as_a_variable
SELECT v.id, w.x = ANY(v.arr) AS one FROM v JOIN v w ON w.id = v.x;
-- view: members_of_a_table_named_as_a_key
SELECT k.id, k.k, e.key, e.value FROM k, jsonb_each(CASE WHEN jsonb_typeof(k.j) = 'object' THEN k.j END) e;
-- view: members_as_text
SELECT k.id, e.key, e.value FROM k, jsonb_each_text(CASE WHEN jsonb_typeof(k.j) = 'object' THEN k.j END) e;
-- view: keys_with_quotes
SELECT id, j -> 'a''b' AS a, j ->> 'a''b' AS t, j #> '{o,it''s}' AS o, j -> 'x"y' AS q, j ->> k AS c FROM k;
-- view: objects_in_the_order_of_jsonb
SELECT id, j -> 'o' AS o, j -> 'b' AS b, j -> 0 AS e, j ->> 'o' AS t, j #>> '{o,b}' AS p, (j -> 'o')::text AS s FROM k;
-- view: parts_of_objects_changed
SELECT id, j - 'a''b' AS m, j || '{"zz": 1, "y": {"bb": 1, "a": 2}}' AS c FROM k WHERE jsonb_typeof(j) = 'object';
-- view: elements_in_the_order_of_jsonb
SELECT k.id, e AS value FROM k, jsonb_array_elements(CASE WHEN jsonb_typeof(k.j) = 'array' THEN k.j END) e;
-- view: objects_collected
SELECT jsonb_agg(j -> 'o' ORDER BY id) AS a, count(DISTINCT j -> 'o') AS n FROM k;
-- view: an_empty_key
SELECT id, j -> 'o' -> '' AS e, j #> '{o,""}' AS p FROM k;
-- view: arrays_of_intervals
SELECT id, ivs, ts::text AS t, iv FROM spans;
-- view: texts_of_floats
SELECT id, f8::text AS a, f8 || '' AS b, to_jsonb(f8) AS j FROM num WHERE abs(f8) < 1;
-- view: characters_by_number
SELECT id, chr(65 + i4 * 30) AS c, chr(i4 + 33) AS d FROM num;
-- view: texts_as_uuids
SELECT id, tx::uuid AS u, tx::uuid = u AS same, u > 'C0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' AS later FROM misc;
-- view: patterns_at_the_end
SELECT id, s ~ 'b$' AS a, s ~ '^ab$' AS b, substring(s FROM '.$') AS c, regexp_replace(s, '$', 'END') AS d, s ~ 'b\Z' AS e FROM misc;
-- view: patterns_of_any_case
SELECT id, s ~* 'é' AS a, s ~ 'É' AS b FROM misc;
-- view: patterns_with_braces_and_brackets
SELECT id, s ~ '^[a&&b]+$' AS a, s ~ '{' AS b, s ~ '{[a-z]+}' AS c, s ~ '[[a]' AS d, s ~ '[^[]' AS e, s ~ 'a{1}b' AS f FROM misc;
-- view: percentiles_of_any_type
SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY d) AS d, percentile_disc(0.3) WITHIN GROUP (ORDER BY s DESC) AS s,
  percentile_disc(0.9) WITHIN GROUP (ORDER BY m) FILTER (WHERE id > 3) AS m, percentile_disc(0) WITHIN GROUP (ORDER BY ts) AS t FROM misc GROUP BY g;
-- view: days_between_columns
SELECT id, x::date AS x FROM misc, generate_series(misc.d, misc.e, '10 days') x;
-- view: days_backwards
SELECT id, x FROM misc, generate_series(misc.ts, timestamp '2024-03-28', interval '-36 hours') x;
-- view: no_escape
SELECT id, s LIKE 'a\b' ESCAPE '' AS a, s LIKE 'a%' ESCAPE '' AS b FROM misc;
-- view: texts_of_reals
SELECT id, f4::text AS a FROM num WHERE abs(f4) < 9e9;
-- view: digits_of_json
SELECT id, j ->> 3 AS small, j -> 3 AS same, j -> 1 AS long FROM k WHERE jsonb_typeof(j) = 'array';
-- view: small_floats_as_numerics
SELECT id, f8::numeric(30, 3) AS a, f8::numeric(10, 2) AS b, round(f8::numeric, 2) AS c FROM num WHERE abs(f8) < 10;
-- view: quotients_of_large_sums
SELECT g, round(sum(big) / avg(n5), 2) AS a, sum(big) / avg(big) AS b FROM num GROUP BY g;
-- view: lists_joined
SELECT id, array_to_string(fa, ',') AS f, array_to_string(ba, ',', '*') AS b FROM num;
-- view: a_group_that_took_no_part
SELECT id, substring(s FROM '(x)?\.') AS a, substring(s FROM 'a(b)?') AS b FROM misc;
-- view: long_base64
SELECT id, encode(b, 'base64') AS e FROM misc;
-- view: abbreviations_of_zones
SELECT id, tz AT TIME ZONE 'CET' AS a, tz AT TIME ZONE 'UTC+3' AS b, ts AT TIME ZONE 'PDT' AS c, tz AT TIME ZONE 'Europe/Paris' AS d FROM misc;
-- view: arrays_collected
SELECT json_agg(arr ORDER BY id)::text AS a, jsonb_agg(arr ORDER BY id) AS b FROM v;
-- view: a_pattern_of_a_subquery
SELECT id, s LIKE ANY (SELECT k || '%' FROM k) AS a, s NOT LIKE ALL (SELECT w.s FROM misc w WHERE w.g = m.g AND w.id <> m.id) AS b,
  s ~ ANY (SELECT 'a.*' || g FROM num WHERE num.id = m.id) AS c FROM misc m;
-- view: a_subquery_on_a_lateral
SELECT m.id, i.x FROM misc m LEFT JOIN LATERAL (SELECT n.id AS x FROM num n WHERE n.g = m.g) i ON i.x NOT IN (SELECT x FROM "Order Items");
-- view: a_subquery_on_the_top_of_a_lateral
SELECT m.id, i.x FROM misc m LEFT JOIN LATERAL (SELECT n.id AS x FROM num n WHERE n.g = m.g ORDER BY n.id DESC LIMIT 1) i
  ON EXISTS (SELECT FROM v WHERE v.id = i.x AND v.x > m.g) JOIN LATERAL unnest(ARRAY[m.id, m.g]) e (y) ON y > (SELECT min(x) FROM "Order Items");
-- view: a_subquery_on_a_lateral_total
SELECT m.id, i.x FROM misc m LEFT JOIN LATERAL (SELECT count(*) AS x FROM num n WHERE n.g = m.g) i ON i.x > ANY (SELECT x FROM "Order Items");
-- view: arrays_of_arrays_shown
SELECT x, array_agg(arr ORDER BY id) AS a, array_agg(names ORDER BY id) AS n FROM v WHERE cardinality(arr) = 3 GROUP BY x;
-- view: records_on_a_condition
SELECT k.id, r.aa, r.n FROM k LEFT JOIN LATERAL jsonb_to_recordset(CASE WHEN jsonb_typeof(k.j -> 'o') = 'object' THEN
  jsonb_build_array(k.j -> 'o', '{"aa": 3, "n": "x"}'::jsonb) END) AS r (aa int, n text) ON r.aa > 1;
-- view: a_table_named_as_a_place
SELECT o.id, o.o, e.key, length(e.value) AS l FROM o, jsonb_each_text(o.j) e;
-- view: long_texts_in_json
SELECT id, length(j ->> 'long') AS l, j ->> 'a' AS a, length(j ->> 'quotes') AS q, j - 'long' - 'quotes' AS rest FROM o;
-- view: spans_collected
SELECT extract(epoch FROM iv) AS e, array_agg(n ORDER BY n) AS ns, max(n) AS m FROM turns GROUP BY iv;
-- view: letters_of_other_cases
SELECT id, lower(s) AS l FROM misc WHERE g = 7;
-- view: exponents_in_json
SELECT id, raw ->> 'k' AS k, (raw ->> 'w')::float8 AS w, raw -> 'x' ->> 0 AS x FROM o;
-- view: places_and_lengths_in_arrays
SELECT id, array_position(arr, 7, 2) AS p, array_position(arr, x, 2) AS q, array_length(arr, x) AS l, array_upper(arr, NULL) AS u, '{9}' || arr AS a,
  NULL || arr AS b, arr || '{8,9}' AS c, '{z}' || names AS d FROM v;
