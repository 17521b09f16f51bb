"""Postgres' meaning where DuckDB's own function differs: macros made in each warehouse, readable there."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter

MACROS = {
    # the quotient to 8 digits from doubles, then the remainder exactly: right to 18 digits
    "refine(a, b, q)": "CAST(q AS DECIMAL(38,18)) + CAST(CAST(a - q * b AS DOUBLE) / CAST(b AS DOUBLE) AS DECIMAL(38,18))",
    "divide(a, b)": "pg.refine(a, b, CAST(CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) AS DECIMAL(38,8)))",
    # by a divisor of so many digits after the point that fewer of the quotient leave room before it
    "divide_deep(a, b)": "pg.refine(a, b, CAST(CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) AS DECIMAL(38,2)))",
    # the text of a quotient of numbers with s and t digits after the point: 16 digits or more, in groups of four, by the operands'
    # first groups; divided by four digits at a time, so that no digit is made up
    "quotient_text(a, b, s, t)": "list_transform([{'a': pg.unscaled(a), 'b': pg.unscaled(b)}], lambda v: CASE WHEN v['b'] <> 0 "
    "THEN pg.quotient_of(abs(v['a']), abs(v['b']), s, t, (v['a'] < 0) <> (v['b'] < 0)) END)[1]",
    "unscaled(x)": "CAST(replace(CAST(x AS VARCHAR), '.', '') AS HUGEINT)",
    "quotient_of(n, d, s, t, below)": "list_transform([pg.quotient_scale(n, d, s, t)], lambda r: "
    "pg.quotient_shown(pg.quotient_digits(n * pg.tens(t - s), d * pg.tens(s - t), r), r, below))[1]",
    "tens(k)": "CAST('1' || repeat('0', greatest(k, 0)) AS HUGEINT)",
    "quotient_scale(n, d, s, t)": "greatest(16 - 4 * (pg.group_weight(n, s) - pg.group_weight(d, t) "
    "- CASE WHEN pg.group_first(n, s) <= pg.group_first(d, t) THEN 1 ELSE 0 END), s, t)",
    "group_weight(n, s)": "CASE WHEN n = 0 THEN 0 ELSE pg.floor_div(len(CAST(n AS VARCHAR)) - s - 1, 4) END",
    "group_first(n, s)": "CASE WHEN n = 0 THEN 0 ELSE CAST(rpad(CAST(n AS VARCHAR), CAST(len(CAST(n AS VARCHAR)) - s - 4 * pg.group_weight(n, s) "
    "AS INTEGER), '0') AS INTEGER) END",
    "quotient_digits(n, d, r)": "list_transform([list_reduce(list_transform(range(r // 4 + 2), lambda i: {'q': n // d, 'r': n % d, "
    "'m': CASE WHEN i <= r // 4 THEN 10000 ELSE pg.tens(r % 4) END}), lambda p, i: {'q': p['q'] * i['m'] + p['r'] * i['m'] // d, "
    "'r': p['r'] * i['m'] % d, 'm': p['m']})], lambda p: p['q'] + CASE WHEN p['r'] * 2 >= d THEN 1 ELSE 0 END)[1]",
    "quotient_shown(q, r, below)": "CASE WHEN below AND q > 0 THEN '-' ELSE '' END || CASE WHEN r = 0 THEN CAST(q AS VARCHAR) ELSE "
    "list_transform([repeat('0', r + 1 - len(CAST(q AS VARCHAR))) || q], lambda u: u[:len(u) - r] || '.' || right(u, r))[1] END",
    "base64(b)": "rtrim(regexp_replace(to_base64(b), '(.{76})', '\\1' || chr(10), 'g'), chr(10))",
    # a · b to 18 digits after the point, h being b to so few that a · h has no more: the rest is small
    "times(a, b, h)": "CAST(a * h AS DECIMAL(38,18)) + CAST(a * (b - h) AS DECIMAL(38,18))",
    # by code points: REVERSE keeps a letter and its accent together
    "reverse(x)": "array_to_string(list_reverse(regexp_extract_all(x, '(?s).')), '')",
    "now()": "coalesce(CAST(getvariable('tidemark_now') AS TIMESTAMPTZ), now())",
    "json_quoted(x)": "pg.json_small(CAST(to_json(x) AS VARCHAR))",
    # Postgres escapes characters with small letters; bound once, as it stands in larger expressions
    "json_small(t)": "list_transform([t], lambda u: CASE WHEN contains(u, '\\u00') THEN array_to_string(list_transform("
    "regexp_extract_all(u, '\\\\u00..|\\\\.|[^\\\\]+'), lambda p: CASE WHEN p LIKE '\\u%' THEN lower(p) ELSE p END), '') ELSE u END)[1]",
    "spaced(x)": "pg.json_small(pg.json_spaced(x))",
    "json_spaced(x)": "rtrim(regexp_replace(x, '((?:\"(?:[^\"\\\\]|\\\\.)*\"|[^\",:])+)([,:]|$)', '\\1\\2 ', 'g'), ' ')",
    "array_has(l, x)": "CASE WHEN list_contains(l, x) THEN TRUE WHEN len(l) > 0 AND x IS NULL OR len(l) <> list_count(l) THEN NULL "
                       "WHEN len(l) = 0 THEN FALSE ELSE list_contains(l, x) END",
    "json_size(x)": "CAST(json_array_length(x) AS BIGINT)",
    "json_member(x, k)": "json_extract(x, pg.json_key(k))",
    "json_shown(x)": "CASE WHEN json_type(x) IN ('OBJECT', 'ARRAY') THEN pg.spaced(pg.json_unmarked(CAST(x AS VARCHAR))) "
    "ELSE ltrim(x ->> '$', chr(1)) END",
    "exact_real(x)": "printf('%.6g', x)",
    "exact(x)": "pg.number_plain(printf('%.15g', x))",
    "float_digits(x)": "CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) ELSE pg.exact(x + 0) END",
    "real_digits(x)": "CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) ELSE pg.number_plain(printf('%.6g', x + 0)) END",
    "number_plain(t)": "list_transform([t], lambda v: pg.number_unfolded(v))[1]",  # bound once: it stands in larger expressions
    "number_unfolded(t)": "CASE WHEN contains(t, 'e') THEN CASE WHEN t LIKE '-%' THEN '-' ELSE '' END || pg.plain_of(replace(split_part("
    "ltrim(t, '-'), 'e', 1), '.', ''), CAST(replace(split_part(t, 'e', 2), '+', '') AS INTEGER)) ELSE t END",
    "plain_of(d, e)": "CASE WHEN e < 0 THEN '0.' || repeat('0', -e - 1) || d WHEN len(d) <= e + 1 THEN d || repeat('0', e + 1 - len(d)) "
    "ELSE d[1:e + 1] || '.' || d[e + 2:] END",
    "float_text(x)": "CASE WHEN isnan(x) THEN 'NaN' WHEN isinf(x) THEN CASE WHEN x > 0 THEN 'Infinity' ELSE '-Infinity' END "
    "WHEN abs(x) >= 1e15 AND abs(x) < 1e16 THEN pg.float_powered(x, CAST(abs(x) AS VARCHAR)) "
    "WHEN abs(x) >= 1e16 AND abs(x) < 1e37 THEN pg.float_large(x) ELSE pg.float_plain(CAST(x AS VARCHAR)) END",
    "timestamp_text(x)": "CAST(x AS VARCHAR)",
    "timestamptz_text(x)": "CAST(x AS VARCHAR) || CASE WHEN isinf(x) THEN '' ELSE '+00' END",
    "interval_text(i)": "list_transform([i], lambda v: pg.interval_shown(pg.months_of(v), datepart('day', v), pg.micros_of(v)))[1]",
    "jsonb(x)": "x",
    "array_text(x)": "'[' || x[2:-2] || ']'",
    "between(a, b)": "a - b",
    "months_of(i)": "datepart('year', i) * 12 + datepart('month', i)",
    "micros_of(i)": "datepart('hour', i) * 3600000000 + datepart('minute', i) * 60000000 + datepart('microsecond', i)",
    "span(i)": "CAST(pg.months_of(i) * 30 + datepart('day', i) AS HUGEINT) * 86400000000 + pg.micros_of(i)",  # a month is 30 days, as for Postgres
    "interval_of(m, d, u)": "pg.interval_carried(trunc(m), trunc(d), pg.tsround((m - trunc(m)) * 30), d - trunc(d), u)",
    "interval_times(i, n)": "list_transform([i], lambda v: pg.interval_of(pg.months_of(v) * n, datepart('day', v) * n, pg.micros_of(v) * n))[1]",
    "initcap(x)": "array_to_string(list_transform(regexp_extract_all(x, '[\\p{L}\\p{Mc}\\p{Nl}\\p{Nd}]+|[^\\p{L}\\p{Mc}\\p{Nl}\\p{Nd}]+'),"
    " lambda w: pg.upper(w[1]) || lower(w[2:])), '')",
    "substring_from(s, a)": "CASE WHEN a IS NOT NULL THEN substring(s, greatest(a, 1)) END",
    "substring_for(s, a, n)": "CASE WHEN a IS NOT NULL AND n IS NOT NULL THEN substring(s, greatest(a, 1), greatest(a + n - greatest(a, 1), 0)) END",
    "pad_left(s, n, f)": "CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN length(s) >= n OR f = '' "
    "THEN left(s, greatest(n, 0)) ELSE lpad(s, n, f) END",
    "pad_right(s, n, f)": "CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN length(s) >= n OR f = '' "
    "THEN left(s, greatest(n, 0)) ELSE rpad(s, n, f) END",
    "age(a, b)": "age(a, b)",
    "json_typeof(x)": "CASE json_type(x) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'VARCHAR' THEN 'string'"
    " WHEN 'BOOLEAN' THEN 'boolean' WHEN 'NULL' THEN 'null' ELSE CASE WHEN x IS NULL THEN NULL ELSE 'number' END END",
    "micros(i)": "datepart('day', i) * 86400000000 + pg.micros_of(i)",
    "floor_div(a, b)": "a // b - CASE WHEN a % b < 0 THEN 1 ELSE 0 END",
    "interval_clock(u)": "printf('%02d:%02d:%02d', u // 3600000000, u // 60000000 % 60, u // 1000000 % 60) || "
    "CASE WHEN u % 1000000 = 0 THEN '' ELSE '.' || rtrim(printf('%06d', u % 1000000), '0') END",
    "interval_part(n, one, before)": "CASE WHEN n = 0 THEN '' ELSE CASE WHEN n > 0 AND before < 0 THEN '+' ELSE '' END || n || one || "
    "CASE WHEN n = 1 THEN ' ' ELSE 's ' END END",
    "interval_shown(m, d, u)": "CASE WHEN m = 0 AND d = 0 AND u = 0 THEN '00:00:00' ELSE rtrim(pg.interval_part(m // 12, ' year', 0) || "
    "pg.interval_part(m % 12, ' mon', m // 12) || pg.interval_part(d, ' day', m) || CASE WHEN u = 0 THEN '' WHEN u < 0 THEN '-' "
    "WHEN d < 0 OR d = 0 AND m < 0 THEN '+' ELSE '' END || CASE WHEN u = 0 THEN '' ELSE pg.interval_clock(abs(u)) END, ' ') END",
    "interval_over(i, n)": "list_transform([i], lambda v: pg.interval_of(pg.months_of(v) / n, datepart('day', v) / n, pg.micros_of(v) / n))[1]",
    "date_bin(s, t, o)": "o + to_microseconds(CAST(pg.floor_div(epoch_us(t) - epoch_us(o), pg.micros(s)) * pg.micros(s) AS BIGINT))",
    "justify(m, d, u)": "to_months(CAST(m AS INTEGER)) + to_days(CAST(d AS INTEGER)) + to_microseconds(CAST(u AS BIGINT))",
    "hours_fixed(m, d, u)": "CASE WHEN d > 0 AND u < 0 THEN pg.justify(m, d - 1, u + 86400000000) WHEN d < 0 AND u > 0 "
    "THEN pg.justify(m, d + 1, u - 86400000000) ELSE pg.justify(m, d, u) END",
    "justify_hours(i)": "pg.hours_fixed(pg.months_of(i), datepart('day', i) + pg.micros_of(i) // 86400000000, pg.micros_of(i) % 86400000000)",
    "days_fixed(m, d, u)": "CASE WHEN m > 0 AND d < 0 THEN pg.justify(m - 1, d + 30, u) WHEN m < 0 AND d > 0 "
    "THEN pg.justify(m + 1, d - 30, u) ELSE pg.justify(m, d, u) END",
    "justify_days(i)": "pg.days_fixed(pg.months_of(i) + datepart('day', i) // 30, datepart('day', i) % 30, pg.micros_of(i))",
    "nearest(n, s)": "CASE WHEN n >= 0 THEN (n + s // 2) // s * s ELSE -((-n + s // 2) // s * s) END",
    "round_timestamp(t, s)": "make_timestamp(pg.nearest(epoch_us(t) - 946684800000000, s) + 946684800000000)",
    "time_of(i)": "CAST(make_timestamp((pg.micros_of(i) % 86400000000 + 86400000000) % 86400000000) AS TIME)",
    "bool_of(x)": "CASE WHEN x IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE "
    "WHEN x IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE ELSE CAST(x AS BOOLEAN) END",
    "shift_left(x, n, bits)": "pg.wrapped(CAST(x AS HUGEINT) * (CAST(1 AS HUGEINT) << (n & (greatest(bits, 32) - 1))), CAST(1 AS HUGEINT) << bits)",
    "wrapped(x, m)": "((x % m + m + m // 2) % m + m) % m - m // 2",
    "upper(x)": "CASE WHEN contains(x, 'ß') THEN replace(upper(replace(x, 'ß', chr(1))), chr(1), 'ß') ELSE upper(x) END",
    "repeated(s, n)": "CASE WHEN n IS NOT NULL THEN repeat(s, greatest(n, 0)) END",
    "bytes_from(s, a)": "CASE WHEN a IS NOT NULL THEN s[greatest(a, 1):] END",
    "bytes_for(s, a, n)": "CASE WHEN a + n <= greatest(a, 1) THEN CASE WHEN s IS NOT NULL THEN ''::BLOB END "
    "WHEN a + n IS NOT NULL THEN s[greatest(a, 1):a + n - 1] END",
    "of_length(l, n)": "list_filter(l, lambda i: pg.span(i) = n)[1]",
    "discrete(l, p)": "l[greatest(CAST(ceil(CAST(p AS DOUBLE) * list_count(l)) AS BIGINT), 1)]",  # in doubles, as Postgres counts
    "percentile(l, p)": "pg.percentile_at(l, p * (list_count(l) - 1))",
    "percentile_at(l, i)": "CASE WHEN list_count(l) > 0 THEN l[CAST(floor(i) AS BIGINT) + 1] + (i - floor(i)) * "
    "(l[CAST(ceil(i) AS BIGINT) + 1] - l[CAST(floor(i) AS BIGINT) + 1]) END",
    "array_quoted(x)": "CASE WHEN x IS NULL THEN 'NULL' WHEN x = '' OR lower(x) = 'null' OR regexp_matches(x, '[\\s{},\"\\\\]') "
    "THEN '\"' || replace(replace(x, '\\', '\\\\'), '\"', '\\\"') || '\"' ELSE x END",
    "any_of(l)": "CASE WHEN list_contains(l, TRUE) THEN TRUE WHEN len(l) <> list_count(l) THEN NULL WHEN l IS NOT NULL THEN FALSE END",
    "all_of(l)": "CASE WHEN list_contains(l, FALSE) THEN FALSE WHEN len(l) <> list_count(l) THEN NULL WHEN l IS NOT NULL THEN TRUE END",
    "slice(l, a, b)": "CASE WHEN b < greatest(a, 1) THEN l[1:0] WHEN a IS NOT NULL AND b IS NOT NULL THEN l[greatest(a, 1):b] END",
    "contains_all(a, b)": "CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN list_has_all(a, b) AND len(b) = list_count(b) END",
    "json_norm(x)": "regexp_replace(x, '(\"(?:[^\"\\\\]|\\\\.)*\"|-?\\d+(?:\\.\\d*[1-9])?)\\.?0*', '\\1', 'g')",
    "json_equal(a, b)": "CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN a = b OR pg.json_norm(a) = pg.json_norm(b) END",
    "json_has_key(x, k)": "coalesce(json_type(x) = 'OBJECT' AND list_contains(json_keys(x), k), FALSE)",
    "json_elements(x)": "list_transform(json_extract(pg.json_marked(x), '$[*]'), lambda v: pg.spaced(pg.json_unmarked(CAST(v AS VARCHAR))))",
    "json_has_element(x, e)": "coalesce(list_contains(list_transform(pg.json_elements(x), lambda v: pg.json_norm(v)), pg.json_norm(e)), FALSE)",
    "json_listed(x)": "CASE WHEN json_type(x) = 'ARRAY' THEN pg.json_elements(x) ELSE [x] END",
    "json_array_of(l)": "'[' || coalesce(array_to_string(l, ', '), '') || ']'",
    "json_sorted(l)": "list_transform(list_sort(list_transform(list_distinct(l), lambda k: {'n': strlen(k), 'k': k})), lambda v: v['k'])",
    "json_object_of(l, a, b)": "'{' || coalesce(array_to_string(list_transform(l, lambda k: pg.json_quoted(k) || ': ' || "
    "coalesce(pg.json_at(b, pg.json_key(k)), pg.json_at(a, pg.json_key(k)))), ', '), '') || '}'",
    "json_concat(a, b)": "list_transform([[a, b]], lambda p: pg.json_joined(p[1], p[2]))[1]",  # bound once
    "json_joined(a, b)": "CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN json_type(a) = 'OBJECT' AND json_type(b) = 'OBJECT' "
    "THEN pg.json_object_of(pg.json_sorted(list_concat(json_keys(a), json_keys(b))), a, b) "
    "ELSE pg.json_array_of(list_concat(pg.json_listed(a), pg.json_listed(b))) END",
    "json_minus(x, ks)": "list_transform([x], lambda u: pg.json_without(u, ks))[1]",  # bound once
    "json_without(x, ks)": "CASE WHEN x IS NULL OR ks IS NULL THEN NULL WHEN json_type(x) = 'OBJECT' "
    "THEN pg.json_object_of(list_filter(json_keys(x), lambda k: NOT list_contains(ks, k)), x, x) "
    "ELSE pg.json_array_of(list_filter(pg.json_elements(x), lambda v: "
    "NOT list_contains(list_transform(ks, lambda k: pg.json_quoted(k)), v))) END",
    "json_minus_place(x, i)": "list_transform([x], lambda u: pg.json_without_place(u, i))[1]",
    "json_without_place(x, i)": "CASE WHEN i IS NULL OR x IS NULL THEN NULL ELSE pg.json_array_of(list_filter(pg.json_elements(x), "
    "lambda v, j: j <> CASE WHEN i >= 0 THEN i + 1 ELSE len(pg.json_elements(x)) + i + 1 END)) END",
    # the fewest digits that tell a number from its neighbours; what lies halfway between two does not tell, for Postgres
    "real_text(x)": "CASE WHEN isnan(x) OR isinf(x) THEN pg.float_text(x) WHEN abs(x) < 1.1754e-38 THEN pg.float_plain(CAST(x AS VARCHAR)) "
    "ELSE pg.real_shown(list_transform([x], lambda v: regexp_replace(CASE WHEN pg.real_told(printf('%.5e', v), v) THEN printf('%.5e', v) "
    "WHEN pg.real_told(printf('%.6e', v), v) THEN printf('%.6e', v) WHEN pg.real_told(printf('%.7e', v), v) THEN printf('%.7e', v) "
    "ELSE printf('%.8e', v) END, '\\.?0*e', 'e'))[1]) END",
    "real_told(t, x)": "CAST(t AS FLOAT) = x AND (CAST(t AS DOUBLE) = x OR coalesce(TRY_CAST(2 * CAST(t AS DOUBLE) - x AS FLOAT) "
    "<> 2 * CAST(t AS DOUBLE) - x, TRUE))",
    "real_shown(t)": "CASE WHEN CAST(split_part(t, 'e', 2) AS INTEGER) BETWEEN -4 AND 5 THEN pg.number_plain(t) ELSE t END",
    "float_told(t, x)": "CAST(t AS DOUBLE) = x AND (CAST(t AS HUGEINT) = CAST(x AS HUGEINT) OR "
    "CAST(CAST(2 * CAST(t AS HUGEINT) - CAST(x AS HUGEINT) AS DOUBLE) AS HUGEINT) <> 2 * CAST(t AS HUGEINT) - CAST(x AS HUGEINT))",
    "float_large(x)": "list_transform([x], lambda v: regexp_replace(CASE WHEN pg.float_told(printf('%.14e', v), v) THEN printf('%.14e', v) "
    "WHEN pg.float_told(printf('%.15e', v), v) THEN printf('%.15e', v) ELSE printf('%.16e', v) END, '\\.?0*e', 'e'))[1]",
    "float_plain(t)": "regexp_replace(t, '\\.0($|e)', '\\1')",
    "float_powered(x, t)": "CASE WHEN x < 0 THEN '-' ELSE '' END || rtrim(t[1] || '.' || rtrim(replace(pg.float_plain(t), '.', '')[2:], '0'), '.') "
    "|| "
    "printf('e+%02d', strpos(t, '.') - 2)",
    "tsround(x)": "round_even(x * 1e6, 0) / 1e6",
    "interval_carried(m, d, r, f, u)": "pg.interval_settled(m, d + trunc(r), pg.tsround((f + r - trunc(r)) * 86400), u)",
    "interval_settled(m, d, s, u)": "to_months(CAST(m AS INTEGER)) + to_days(CAST(d + trunc(s / 86400) AS INTEGER)) + "
    "to_microseconds(CAST(round_even(u + (s - trunc(s / 86400) * 86400) * 1e6, 0) AS BIGINT))",
    "epoch_of(i)": "(CAST((pg.months_of(i) // 12) * 31557600 + pg.months_of(i) % 12 * 2592000 + datepart('day', i) * 86400 AS DECIMAL(20,0)) + "
    "pg.micros_of(i) * 0.000001)",
    "json_marked(x)": "CASE WHEN regexp_matches(x, '\\.[0-9]*0[,}\\]]|0\\.0000|[0-9.]{16}|(?:^|[:,\\[] ?)-?[0-9.]+[eE]') "
    "THEN array_to_string(list_transform(regexp_extract_all(x, "
    "'\"(?:[^\"\\\\]|\\\\.)*\"|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[^\"0-9-]+|-'), "
    "lambda t: CASE WHEN regexp_matches(t, '^-?(?:[0-9]+\\.[0-9]*0$|0\\.0000|[0-9.]{16}|[0-9.]+[eE])') "
    "THEN '\"\\u0001' || t || '\"' ELSE t END), '') ELSE x END",
    "json_unmarked(t)": "regexp_replace(t, '\"\\\\u0001([^\"]*)\"', '\\1', 'g')",
    "json_at(x, p)": "pg.spaced(pg.json_unmarked(CAST(json_extract(pg.json_marked(x), p) AS VARCHAR)))",
    "json_text_at(x, p)": "pg.json_shown(json_extract(pg.json_marked(x), p))",
    "json_key(k)": "CASE WHEN k IN ('', '*') THEN '/' || k ELSE '$.\"' || replace(k, '\"', '\\\"') || '\"' END",
}


def create_macros() -> list[str]:
    """CREATE MACRO statements, each after those it uses."""
    uses = {head: {h for h in MACROS if re.search(rf"pg\.{_name(h)}\(", body)} for head, body in MACROS.items()}
    return [f"CREATE OR REPLACE MACRO pg.{head} AS {MACROS[head]}" for head in TopologicalSorter(uses).static_order()]


def _name(head: str) -> str:
    return head.partition("(")[0]
