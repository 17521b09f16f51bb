"""Postgres' meaning where Spark's own function differs, put in the place of each call when SQL is printed."""

from __future__ import annotations

import re

from compiler.spelling.spark import shortest_real

TOKEN = r""" '"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"\\s*:?|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[^"0-9-]+|-' """.strip()

BODIES: dict[str, str] = {
    # numbers: a · b to 18 digits after the point, h being b to so few that a · h has no more: the rest is small
    "pg_times(a, b, h)": "CAST(a * h AS DECIMAL(38,18)) + CAST(a * (b - h) AS DECIMAL(38,18))",
    "pg_gcd(x, y)": "AGGREGATE(SEQUENCE(1, 92), NAMED_STRUCT('a', ABS(CAST(x AS BIGINT)), 'b', ABS(CAST(y AS BIGINT))), "
    "(s, i) -> CASE WHEN s['b'] = 0 THEN s ELSE NAMED_STRUCT('a', s['b'], 'b', s['a'] % s['b']) END)['a']",
    "pg_lcm(x, y)": "CASE WHEN x = 0 OR y = 0 THEN 0 ELSE ABS(CAST(x AS BIGINT) DIV pg_gcd(x, y) * y) END",
    "pg_floor(x)": "CASE WHEN ABS(x) < 9e15 THEN CAST(FLOOR(x) AS DOUBLE) ELSE x END",
    "pg_ceil(x)": "CASE WHEN ABS(x) < 9e15 THEN CAST(CEIL(x) AS DOUBLE) ELSE x END",
    "pg_trunc(x)": "CASE WHEN x < 0 THEN pg_ceil(x) ELSE pg_floor(x) END",
    "pg_exact(x)": "CASE WHEN x IS NOT NULL THEN FORMAT_STRING('%.15g', x) END",
    "pg_exact_real(x)": "CASE WHEN x IS NOT NULL THEN FORMAT_STRING('%.6g', CAST(x AS DOUBLE)) END",
    # the text of a quotient of numbers with s and t digits after the point: 16 digits or more, in groups of four, by the operands'
    # first groups; divided digit by digit (DIV is a BIGINT), so that no digit is made up
    "pg_quotient_text(a, b, s, t)": "CASE WHEN b <> 0 THEN pg_quotient_of(ABS(pg_unscaled(a)), ABS(pg_unscaled(b)), s, t, (a < 0) <> (b < 0)) END",
    "pg_unscaled(x)": "CAST(REPLACE(CAST(x AS STRING), '.', '') AS DECIMAL(38,0))",
    "pg_quotient_of(n, d, s, t, below)": "pg_quotient_placed(CAST(n * pg_tens(t - s) AS DECIMAL(38,0)), CAST(d * pg_tens(s - t) AS DECIMAL(38,0)), "
    "pg_quotient_scale(n, d, s, t), below)",
    "pg_quotient_placed(n, d, r, below)": "pg_quotient_shown(CAST(pg_quotient_digits(n, d, r) AS STRING), r, below)",
    "pg_tens(k)": "CAST(CONCAT('1', REPEAT('0', GREATEST(k, 0))) AS DECIMAL(18,0))",
    "pg_quotient_scale(n, d, s, t)": "GREATEST(16 - 4 * (pg_group_weight(n, s) - pg_group_weight(d, t) "
    "- CASE WHEN pg_group_first(n, s) <= pg_group_first(d, t) THEN 1 ELSE 0 END), s, t)",
    "pg_group_weight(n, s)": "CASE WHEN n = 0 THEN 0 ELSE CAST(FLOOR((LENGTH(CAST(n AS STRING)) - s - 1) / 4) AS INT) END",
    "pg_group_first(n, s)": "CASE WHEN n = 0 THEN 0 ELSE CAST(RPAD(CAST(n AS STRING), LENGTH(CAST(n AS STRING)) - s - 4 * pg_group_weight(n, s), "
    "'0') AS INT) END",
    "pg_quotient_digits(n, d, r)": "AGGREGATE(SEQUENCE(0, r), NAMED_STRUCT('q', CAST((n - n % d) / d AS DECIMAL(38,0)), 'r', CAST(n % d AS "
    "DECIMAL(38,0))), (v, i) -> CASE WHEN i = 0 THEN v ELSE NAMED_STRUCT('q', CAST(v['q'] * 10 + v['r'] * 10 DIV d AS DECIMAL(38,0)), 'r', "
    "CAST(v['r'] * 10 % d AS DECIMAL(38,0))) END, v -> v['q'] + CASE WHEN v['r'] * 2 >= d THEN 1 ELSE 0 END)",
    "pg_quotient_shown(t, r, below)": "CONCAT(CASE WHEN below AND t <> '0' THEN '-' ELSE '' END, CASE WHEN r = 0 THEN t ELSE "
    "pg_pointed(LPAD(t, GREATEST(LENGTH(t), r + 1), '0'), r) END)",
    "pg_pointed(t, r)": "CONCAT(LEFT(t, LENGTH(t) - r), '.', RIGHT(t, r))",
    # a float as a numeric shows it
    "pg_float_digits(x)": "pg_trimmed(pg_number_plain(pg_exact(x + 0)))",
    "pg_real_digits(x)": "pg_trimmed(pg_number_plain(pg_exact_real(x + 0)))",
    "pg_trimmed(t)": "CASE WHEN t LIKE '%.%' THEN RTRIM('.', RTRIM('0', t)) ELSE t END",
    "pg_nearest(n, s)": "CASE WHEN n >= 0 THEN (n + s DIV 2) DIV s * s ELSE -((-n + s DIV 2) DIV s * s) END",
    # floating point as text: digits d without a point, exponent e of the first
    "pg_digits(t)": "LTRIM('0', REPLACE(SPLIT_PART(LTRIM('-', t), 'E', 1), '.', ''))",
    "pg_exponent(x, t)": "CASE WHEN t LIKE '%E%' THEN CAST(SPLIT_PART(t, 'E', 2) AS INT) "
    r"WHEN ABS(x) >= 1 THEN INSTR(LTRIM('-', t), '.') - 2 ELSE 1 - LENGTH(REGEXP_EXTRACT(t, '0\\.0*', 0)) END",
    "pg_powered(d, e)": "CONCAT(RTRIM('.', CONCAT(LEFT(d, 1), '.', RTRIM('0', SUBSTRING(d, 2)))), 'e', "
    "CASE WHEN e < 0 THEN '-' ELSE '+' END, LPAD(CAST(ABS(e) AS STRING), GREATEST(2, LENGTH(CAST(ABS(e) AS STRING))), '0'))",
    "pg_plain(d, e)": "RTRIM('.', CASE WHEN e < 0 THEN CONCAT('0.', REPEAT('0', -e - 1), RTRIM('0', d)) "
    "ELSE CONCAT(RPAD(LEFT(d, e + 1), e + 1, '0'), '.', RTRIM('0', SUBSTRING(d, e + 2))) END)",
    "pg_shown(x, t, most)": "CASE WHEN ISNAN(x) OR ABS(x) = DOUBLE('Infinity') THEN t WHEN x = 0 THEN "
    "CASE WHEN t LIKE '-%' THEN '-0' ELSE '0' END ELSE CONCAT(CASE WHEN x < 0 THEN '-' ELSE '' END, CASE WHEN pg_exponent(x, t) < -4 "
    "OR pg_exponent(x, t) >= most THEN pg_powered(pg_digits(t), pg_exponent(x, t)) ELSE pg_plain(pg_digits(t), pg_exponent(x, t)) END) END",
    "pg_float_text(x)": "pg_shown(x, pg_shortest(x, CAST(x AS STRING)), 15)",
    "pg_real_text(x)": "pg_shown(CAST(x AS DOUBLE), " + shortest_real("x") + ", 6)",
    # Java before 19 writes more digits than tell a number from its neighbours
    "pg_shortest(x, t)": "CASE WHEN t IS NULL OR LENGTH(t) < 17 OR t RLIKE 'N|y' THEN t WHEN pg_told(x, FORMAT_STRING('%.14E', x)) "
    "THEN FORMAT_STRING('%.14E', x) WHEN pg_told(x, FORMAT_STRING('%.15E', x)) THEN FORMAT_STRING('%.15E', x) "
    "ELSE FORMAT_STRING('%.16E', x) END",
    # whether a text is no halfway mark between two numbers, which Postgres does not take for either
    "pg_told(x, t)": "TRY_CAST(t AS DOUBLE) = x AND COALESCE(ABS(x) < 1e16 OR TRY_CAST(CAST(pg_beyond(x, t) AS DOUBLE) AS BIGINT) <> pg_beyond(x, t) "
    "OR pg_beyond(x, t) = TRY_CAST(x AS BIGINT), TRUE)",
    "pg_beyond(x, t)": "2 * TRY_CAST(t AS DECIMAL(38,0)) - TRY_CAST(x AS BIGINT)",
    "pg_number_plain(t)": "CASE WHEN t LIKE '%e%' THEN CONCAT(CASE WHEN t LIKE '-%' THEN '-' ELSE '' END, pg_plain_of(REPLACE(SPLIT_PART("
    "LTRIM('-', t), 'e', 1), '.', ''), CAST(SPLIT_PART(t, 'e', 2) AS INT))) ELSE t END",
    "pg_plain_of(d, e)": "CASE WHEN e < 0 THEN CONCAT('0.', REPEAT('0', -e - 1), d) WHEN LENGTH(d) <= e + 1 THEN RPAD(d, e + 1, '0') "
    "ELSE CONCAT(LEFT(d, e + 1), '.', SUBSTRING(d, e + 2)) END",
    # intervals
    "pg_interval(m, d, u)": "CASE WHEN m IS NOT NULL AND d IS NOT NULL AND u IS NOT NULL THEN "
    "NAMED_STRUCT('months', m, 'days', d, 'micros', u) END",
    "pg_length(i)": "(i['months'] * CAST(30 AS BIGINT) + i['days']) * 86400000000 + i['micros']",
    "pg_addable(i)": "MAKE_INTERVAL(0, i['months'], 0, i['days'], 0, 0, "
    "CAST(i['micros'] * CAST(0.000001 AS DECIMAL(6,6)) AS DECIMAL(18,6)))",
    "pg_between(a, b)": "pg_interval(0, CAST((a - b) DIV 86400000000 AS INT), (a - b) % 86400000000)",
    # a step of months is added to the time before, not so many times to the first: from January 30 on to March 29
    "pg_series(a, b, s)": "CASE WHEN s['months'] = 0 THEN SEQUENCE(a, b, pg_addable(s)) ELSE FILTER(AGGREGATE(SEQUENCE(1, "
    "pg_steps(a, b, s)), ARRAY(a), (l, n) -> CONCAT(l, ARRAY(ELEMENT_AT(l, -1) + pg_addable(s)))), "
    "v -> CASE WHEN pg_length(s) > 0 THEN v <= b ELSE v >= b END) END",
    "pg_steps(a, b, s)": "1 + ABS(UNIX_MICROS(CAST(b AS TIMESTAMP_LTZ)) - UNIX_MICROS(CAST(a AS TIMESTAMP_LTZ))) DIV "
    "GREATEST(86400000000, LEAST(pg_step(s, 28), pg_step(s, 31)))",
    "pg_step(s, d)": "ABS((s['months'] * CAST(d AS BIGINT) + s['days']) * 86400000000 + s['micros'])",
    "pg_interval_plus(a, b)": "pg_interval(a['months'] + b['months'], a['days'] + b['days'], a['micros'] + b['micros'])",
    "pg_interval_times_whole(i, n)":
    "pg_interval(CAST(i['months'] * n AS INT), CAST(i['days'] * n AS INT), i['micros'] * n)",
    "pg_interval_times(i, n)": "pg_interval_of(i['months'] * n, i['days'] * n, i['micros'] * n)",
    "pg_interval_over(i, n)": "pg_interval_of(i['months'] / n, i['days'] / n, i['micros'] / n)",
    "pg_rounded(x)": "RINT(x * 1e6) / 1e6",
    "pg_interval_of(m, d, u)":
    "pg_interval_carried(pg_trunc(m), pg_trunc(d), pg_rounded((m - pg_trunc(m)) * 30), d - pg_trunc(d), u)",
    "pg_interval_carried(m, d, r, f, u)":
    "pg_interval_settled(m, d + pg_trunc(r), pg_rounded((f + r - pg_trunc(r)) * 86400), u)",
    "pg_interval_settled(m, d, s, u)": "pg_interval(CAST(m AS INT), "
    "CAST(d + pg_trunc(s / 86400) AS INT), CAST(RINT(u + (s - pg_trunc(s / 86400) * 86400) * 1e6) AS BIGINT))",
    "pg_part(n, one, before)": "CASE WHEN n = 0 THEN '' ELSE CONCAT(CASE WHEN n > 0 AND before < 0 THEN '+' "
    "ELSE '' END, CAST(n AS STRING), one, CASE WHEN n = 1 THEN ' ' ELSE 's ' END) END",
    "pg_clock(u)": "CASE WHEN u IS NOT NULL THEN CONCAT(FORMAT_STRING('%02d:%02d:%02d', u DIV 3600000000, u DIV 60000000 % 60, u DIV 1000000 % 60), "
    "CASE WHEN u % 1000000 = 0 THEN '' ELSE CONCAT('.', RTRIM('0', FORMAT_STRING('%06d', u % 1000000))) END) END",
    "pg_interval_text(i)": "pg_interval_shown(i['months'], i['days'], i['micros'])",
    "pg_interval_shown(m, d, u)": "CASE WHEN m = 0 AND d = 0 AND u = 0 THEN '00:00:00' ELSE RTRIM(CONCAT("
    "pg_part(CAST(m DIV 12 AS INT), ' year', 0), pg_part(m % 12, ' mon', CAST(m DIV 12 AS INT)), pg_part(d, ' day', m), CASE WHEN u = 0 THEN '' "
    "WHEN u < 0 THEN '-' WHEN d < 0 OR d = 0 AND m < 0 THEN '+' ELSE '' END, CASE WHEN u = 0 THEN '' ELSE pg_clock(ABS(u)) END)) END",
    "pg_micros_of_day(t)": "CASE WHEN t = '24:00:00' THEN 86400000000 ELSE "
    "UNIX_MICROS(CAST(CONCAT('1970-01-01 ', t) AS TIMESTAMP_LTZ)) END",
    "pg_bin(s, t, o)": "o + ((t - o) DIV s - CASE WHEN (t - o) % s < 0 THEN 1 ELSE 0 END) * s",
    # age: fields of the later less those of the earlier, days borrowed from the earlier's month
    "pg_age(a, b)": "CASE WHEN a >= b THEN pg_age_of(a, b) "
    "ELSE pg_interval_times_whole(pg_age_of(b, a), -1) END",
    "pg_age_of(a, b)": "pg_age_borrowed((YEAR(a) - YEAR(b)) * 12 + MONTH(a) - MONTH(b), "
    "DAY(a) - DAY(b), UNIX_MICROS(CAST(a AS TIMESTAMP_LTZ)) - UNIX_MICROS(DATE_TRUNC('DAY', CAST(a AS TIMESTAMP_LTZ))) "
    "- UNIX_MICROS(CAST(b AS TIMESTAMP_LTZ)) + UNIX_MICROS(DATE_TRUNC('DAY', CAST(b AS TIMESTAMP_LTZ))), DAY(LAST_DAY(b)))",
    "pg_age_borrowed(m, d, u, month)": "pg_age_settled(m, CASE WHEN u < 0 THEN d - 1 ELSE d END, "
    "CASE WHEN u < 0 THEN u + 86400000000 ELSE u END, month)",
    "pg_age_settled(m, d, u, month)":
    "pg_interval(CASE WHEN d < 0 THEN m - 1 ELSE m END, CASE WHEN d < 0 THEN d + month ELSE d END, u)",
    # of a local time that comes twice, the second
    "pg_to_utc(x, z)": "pg_later(TO_UTC_TIMESTAMP(x, z), x, z)",
    "pg_later(t, x, z)": "CASE WHEN FROM_UTC_TIMESTAMP(t + INTERVAL 1 HOUR, z) = x THEN t + INTERVAL 1 HOUR ELSE t END",
    # text
    "pg_base64(b)": "RTRIM(CHR(10), REGEXP_REPLACE(REPLACE(BASE64(b), CONCAT(CHR(13), CHR(10)), ''), '(.{76})', CONCAT('$1', CHR(10))))",
    "pg_uuid_of(x)": "REGEXP_REPLACE(REGEXP_REPLACE(LOWER(TRIM(x)), '[{}-]', ''), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')",
    "pg_chr(n)": "CASE WHEN n < 128 THEN CHR(n) ELSE DECODE(UNHEX(LPAD(HEX(n), 8, '0')), 'UTF-32') END",
    "pg_upper(x)": "CASE WHEN CONTAINS(x, 'ß') THEN REPLACE(UPPER(REPLACE(x, 'ß', CHR(1))), CHR(1), 'ß') ELSE UPPER(x) END",
    "pg_lower(x)": "CASE WHEN CONTAINS(x, 'Σ') OR CONTAINS(x, 'İ') THEN "
    "REPLACE(LOWER(REPLACE(REPLACE(x, 'İ', 'i'), 'Σ', CHR(1))), CHR(1), 'σ') ELSE LOWER(x) END",  # no final sigma, no dot above
    # before a character that is none of %, _ and itself, a backslash means nothing
    "pg_like_pattern(p)": r"REGEXP_REPLACE(p, '(\\\\[%_\\\\])|\\\\(.)', '$1$2')",
    "pg_initcap(x)": "ARRAY_JOIN(TRANSFORM(SPLIT(x, ''), (c, i) -> CASE WHEN i > 0 AND "
    "SUBSTRING(x, i, 1) RLIKE '[\\\\p{L}\\\\p{Mc}\\\\p{Nl}\\\\p{Nd}]' THEN pg_lower(c) ELSE pg_upper(c) END), '')",
    "pg_bool_of(x)": "CASE WHEN x IN ('t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1') THEN TRUE "
    "WHEN x IN ('f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0') THEN FALSE ELSE CAST(x AS BOOLEAN) END",
    "pg_left(s, n)": "CASE WHEN n >= 0 THEN LEFT(s, n) WHEN n < 0 THEN LEFT(s, GREATEST(LENGTH(s) + n, 0)) END",
    "pg_right(s, n)": "CASE WHEN n >= 0 THEN RIGHT(s, n) WHEN n < 0 THEN RIGHT(s, GREATEST(LENGTH(s) + n, 0)) END",
    "pg_repeated(s, n)": "CASE WHEN n IS NOT NULL THEN REPEAT(s, GREATEST(n, 0)) END",
    "pg_substring_from(s, a)": "CASE WHEN a IS NOT NULL THEN SUBSTRING(s, GREATEST(a, 1)) END",
    "pg_substring_for(s, a, n)": "CASE WHEN a IS NOT NULL AND n IS NOT NULL THEN "
    "SUBSTRING(s, GREATEST(a, 1), GREATEST(a + n - GREATEST(a, 1), 0)) END",
    "pg_bytes_from(s, a)": "CASE WHEN a IS NOT NULL THEN SUBSTRING(s, GREATEST(a, 1)) END",
    "pg_bytes_for(s, a, n)": "CASE WHEN a IS NOT NULL AND n IS NOT NULL THEN "
    "SUBSTRING(s, GREATEST(a, 1), GREATEST(a + n - GREATEST(a, 1), 0)) END",
    "pg_pad_left(s, n, f)": "CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN LENGTH(s) >= n OR f = '' "
    "THEN LEFT(s, GREATEST(n, 0)) ELSE LPAD(s, n, f) END",
    "pg_pad_right(s, n, f)": "CASE WHEN n IS NULL OR f IS NULL THEN NULL WHEN LENGTH(s) >= n OR f = '' "
    "THEN LEFT(s, GREATEST(n, 0)) ELSE RPAD(s, n, f) END",
    "pg_array_quoted(x)": r"""CASE WHEN x IS NULL THEN 'NULL' WHEN x = '' OR LOWER(x) = 'null' OR x RLIKE '[\\s{},"\\\\]' """
    r"""THEN CONCAT('"', REPLACE(REPLACE(x, '\\', '\\\\'), '"', '\\"'), '"') ELSE x END""",
    # JSON: while Spark reads it, numbers that it would write otherwise are strings, and keys have their length before them, since
    # it puts them in order; a key without apostrophes can be named in a path
    "pg_json_marked(x)": r"CASE WHEN x LIKE '%:%' OR x RLIKE '\\.[0-9]*0|[0-9][eE]|[0-9.]{30}' THEN ARRAY_JOIN(TRANSFORM("
    rf"""REGEXP_EXTRACT_ALL(x, {TOKEN}, 0), t -> CASE WHEN t LIKE '"%:' THEN pg_json_key(REGEXP_REPLACE(SUBSTRING(t, 2), '"\\s*:$', '')) """
    r"""WHEN t RLIKE '^-?[0-9]' AND (t RLIKE '\\.[0-9]*0$|[eE]' OR LENGTH(t) > 30) THEN CONCAT('"\\u0001', t, '"') ELSE t END), '') ELSE x END""",
    "pg_json_key(k)": r"""CONCAT('"', pg_json_length(REGEXP_REPLACE(k, '\\\\(?:u[0-9a-fA-F]{4}|.)', '.')), REPLACE(k, CHR(39), '\\u0001'), '":')""",
    "pg_json_length(k)": "LPAD(CAST(OCTET_LENGTH(k) AS STRING), 6, '0')",
    "pg_json_path(k)": "CONCAT('$[', CHR(39), pg_json_length(k), REPLACE(k, CHR(39), CHR(1)), CHR(39), ']')",
    "pg_json_unmarked(t)": r"""REPLACE(REGEXP_REPLACE(REGEXP_REPLACE(t, '"\\\\u0001([^"]*)"', '$1'), """
    r"""'"[0-9]{6}([^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"):', '"$1:'), '\\u0001', CHR(39))""",
    "pg_json_spaced(t)": r"""pg_json_small(RTRIM(REGEXP_REPLACE(t, '((?:"[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|[^",:]++)++)([,:]|$)', '$1$2 ')))""",
    "pg_json_printed(v)": "pg_json_spaced(pg_json_unmarked(TO_JSON(v)))",
    "pg_json_shown(v)": "CASE WHEN IS_VARIANT_NULL(v) THEN NULL WHEN SCHEMA_OF_VARIANT(v) = 'STRING' "
    "THEN LTRIM(CHR(1), CAST(v AS STRING)) ELSE pg_json_printed(v) END",
    "pg_json_value(x, p)": "TRY_VARIANT_GET(PARSE_JSON(pg_json_marked(x)), p, 'variant')",
    "pg_json_at(x, p)": "pg_json_printed(pg_json_value(x, p))",
    "pg_json_text_at(x, p)": "pg_json_shown(pg_json_value(x, p))",
    "pg_json_typeof(x)": "pg_json_kind(SCHEMA_OF_VARIANT(PARSE_JSON(x)))",
    "pg_json_kind(s)": "CASE WHEN s LIKE 'OBJECT%' THEN 'object' WHEN s LIKE 'ARRAY%' THEN 'array' WHEN s = 'STRING' "
    "THEN 'string' WHEN s = 'BOOLEAN' THEN 'boolean' WHEN s = 'VOID' THEN 'null' WHEN s IS NOT NULL THEN 'number' END",
    "pg_json_items(x)":
    "CASE WHEN pg_json_typeof(x) = 'array' THEN CAST(PARSE_JSON(pg_json_marked(x)) AS ARRAY<VARIANT>) END",
    "pg_json_elements(x)":
    "TRANSFORM(pg_json_items(x), v -> pg_json_spaced(pg_json_unmarked(COALESCE(TO_JSON(v), 'null'))))",
    "pg_json_elements_text(x)": "TRANSFORM(pg_json_items(x), v -> CASE WHEN v IS NULL OR IS_VARIANT_NULL(v) THEN NULL "
    "WHEN SCHEMA_OF_VARIANT(v) = 'STRING' THEN LTRIM(CHR(1), CAST(v AS STRING)) ELSE pg_json_spaced(pg_json_unmarked(TO_JSON(v))) END)",
    "pg_json_nth(x, n)": "GET(pg_json_elements(x), CASE WHEN n >= 0 THEN n ELSE SIZE(pg_json_elements(x)) + n END)",
    "pg_json_text_nth(x, n)":
    "GET(pg_json_elements_text(x), CASE WHEN n >= 0 THEN n ELSE SIZE(pg_json_elements_text(x)) + n END)",
    "pg_json_quote(x)": "CASE WHEN x IS NOT NULL THEN pg_json_small(SUBSTRING(TO_JSON(NAMED_STRUCT('x', x)), 6, "
    "LENGTH(TO_JSON(NAMED_STRUCT('x', x))) - 6)) END",
    # Postgres escapes characters with small letters; bound once, as it stands in larger expressions
    "pg_json_small(t)": r"""GET(TRANSFORM(ARRAY(t), u -> CASE WHEN CONTAINS(u, '\\u00') THEN ARRAY_JOIN(TRANSFORM("""
    r"""REGEXP_EXTRACT_ALL(u, '\\\\u00..|\\\\.|[^\\\\]+', 0), p -> CASE WHEN STARTSWITH(p, '\\u') THEN LOWER(p) ELSE p END), '') """
    r"""ELSE u END), 0)""",
    "pg_json_norm(x)": r"""REGEXP_REPLACE(x, '("[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+"|-?\\d+(?:\\.\\d*[1-9])?)\\.?0*', '$1')""",
    "pg_json_equal(a, b)":
    "CASE WHEN a IS NOT NULL AND b IS NOT NULL THEN a = b OR pg_json_norm(a) = pg_json_norm(b) END",
    "pg_json_listed(x)": "CASE WHEN pg_json_typeof(x) = 'array' THEN pg_json_elements(x) ELSE ARRAY(x) END",
    "pg_json_array_of(l)": "CONCAT('[', ARRAY_JOIN(l, ', '), ']')",
    "pg_json_sorted(l)": "TRANSFORM(ARRAY_SORT(TRANSFORM(ARRAY_DISTINCT(l), "
    "k -> NAMED_STRUCT('n', OCTET_LENGTH(k), 'k', k))), s -> s['k'])",
    "pg_json_member(x, k)": "pg_json_at(x, pg_json_path(k))",
    "pg_json_text_member(x, k)": "pg_json_text_at(x, pg_json_path(k))",
    "pg_json_object_of(l, a, b)": "CONCAT('{', ARRAY_JOIN(TRANSFORM(l, k -> CONCAT(pg_json_quote(k), "
    "': ', COALESCE(pg_json_member(b, k), pg_json_member(a, k)))), ', '), '}')",
    "pg_json_concat(a, b)": "CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN pg_json_typeof(a) = 'object' AND "
    "pg_json_typeof(b) = 'object' THEN pg_json_object_of(pg_json_sorted(CONCAT(JSON_OBJECT_KEYS(a), JSON_OBJECT_KEYS(b))), a, b) "
    "ELSE pg_json_array_of(CONCAT(pg_json_listed(a), pg_json_listed(b))) END",
    "pg_json_minus(x, ks)": "CASE WHEN x IS NULL OR ks IS NULL THEN NULL WHEN pg_json_typeof(x) = 'object' "
    "THEN pg_json_object_of(FILTER(JSON_OBJECT_KEYS(x), k -> NOT ARRAY_CONTAINS(ks, k)), x, x) ELSE pg_json_array_of(FILTER("
    "pg_json_elements(x), v -> NOT ARRAY_CONTAINS(TRANSFORM(ks, k -> pg_json_quote(k)), v))) END",
    "pg_json_minus_place(x, i)": "CASE WHEN x IS NULL OR i IS NULL THEN NULL ELSE pg_json_array_of(FILTER("
    "pg_json_elements(x), (v, j) -> j <> CASE WHEN i >= 0 THEN i ELSE SIZE(pg_json_elements(x)) + i END)) END",
}


MACROS = {head.partition("(")[0]: (tuple(re.findall(r"\w+", head.partition("(")[2])), body) for head, body in BODIES.items()}
