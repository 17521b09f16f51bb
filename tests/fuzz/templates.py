"""Templates of random SQL: what an argument must be, and what comes out. `o` is any type with an order, `@` a total
ORDER BY."""

from __future__ import annotations

import re

AGGS = """big count(*) -|big count({}) *|big count(DISTINCT {}) o|big sum({}) int|num sum({}) num
num sum(DISTINCT {}) num|float sum({}) float
text 'avg ' || avg({}) int
numx avg({}) int|numx avg({}) num|numx avg(DISTINCT {}) int|approx avg({}) float|= min({}) o|= max({}) o
approx stddev_samp({}) num
approx var_pop({}) int|approx stddev({}) float|approx variance({}) big|approx corr({}::float8, {}::float8) int
approx covar_pop({}, {}) float|approx regr_slope({}::float8, {}::float8) int|big regr_count({}::float8, {}::float8) num
bool bool_and({}) bool|bool bool_or({}) bool|bool every({}) bool|int bit_and({}) int|int bit_or({}) int
int bit_xor({}) int
text string_agg({}, ',' ORDER BY @) text|text string_agg(DISTINCT {}, '-' ORDER BY {}) text
arr array_agg({} ORDER BY @) int
arr json_agg({} ORDER BY @) int|= mode() WITHIN GROUP (ORDER BY {}) o|arr jsonb_agg({} ORDER BY @) text
approx percentile_cont(0.5) WITHIN GROUP (ORDER BY {}) float|= percentile_disc(0.3) WITHIN GROUP (ORDER BY {}) o
approx percentile_cont(0.25) WITHIN GROUP (ORDER BY {} DESC) int|arr array_agg(DISTINCT {} ORDER BY {}) int
approx avg({} / 3) float
approx sum({} / 7.0) int|approx stddev({} / 3) float"""
WINDOWS = """big row_number() - @|big rank() - o|big dense_rank() - o|approx percent_rank() - o|approx cume_dist() - o
int ntile(3) - @|= lag({}) o @
= lead({}, 2) o @|= lag({}, 1, {}) o @|= first_value({}) o @f|= last_value({}) o @f|= nth_value({}, 2) o @f
big count(*) - f
big count({}) o f|big sum({}) int f|num sum({}) num f|numx avg({}) num f|= min({}) o f|= max({}) o f
float sum({}) float f
big count(*) FILTER (WHERE {}) bool f|approx avg({} / 3) float f|approx sum({} / 7) float f|approx stddev({}) num f
approx variance({}) int f|arr array_agg({}) int @f|text 'avg ' || avg({}) int f"""
SCALARS = """int {int} + {int}|int {int} - {int}|int {int} / 3|int {int} % nullif({int}, 0)|int abs({int})
int length({text})
int extract(day FROM {date})::int|int CASE WHEN {bool} THEN {int} ELSE {int} END|int coalesce({int}, {int})
int extract(month FROM {ts})::int|int greatest({int}, {int})|big {big} * 2|big {int}::bigint|big -{big}
num {num} + {num}|num {num} * 2
num round({num}, 1)|num coalesce({num}, 0)|num abs({num})|num {int}::numeric(10,2)|numx {num} / 7|numx {num} * {num}
numx {int} / 4.0
text upper({text})|text {text} || '-' || {text}|text substr({text}, 1, 2)|text coalesce({text}, {text})|text {int}::text
text ({int} / 7.0)::text|text jsonb_build_object('q', 100.0 * {int} / 3)::text
text CASE WHEN {bool} THEN {text} WHEN {bool} THEN 'w' END|text nullif({text}, 'a')|text concat({text}, {int})
text left({text}, -1)
text trim({char})|text {date}::text|ts {ts} + interval '1 day 2 hours'|ts date_trunc('month', {ts})
ts {date}::timestamp|date {date} + 3
date {ts}::date|float {float} * 2|float {int}::float8|float coalesce({float}, 0.5)
float CASE WHEN {bool} THEN {float} END|bool ({bool})
int {date} - {date}|int ({bool})::int|text coalesce({char}, 'longer than it') || '.'|text coalesce({num}, 0)::text
text (CASE WHEN {bool} THEN {num} ELSE 1 END)::text|numx CASE WHEN {bool} THEN {num} ELSE '0.125' END
text greatest({num}, {int})::text
numx coalesce({num}, '0.0625')|text CASE WHEN {bool} THEN {char} ELSE 'something else' END || '!'
int {int} << 33|int {int} >> 1|big {big} & 5|int {int} # {int}|bool {int} = ANY (ARRAY[{int}, 3])
text (ARRAY['x''y', {text}])[2]
text array_to_string(ARRAY[{text}, 'q,', {text}], ', ')|text jsonb_build_object('a', {int}, 'b', {text})::text
text to_char({ts}, 'YYYY-MM Dy')
int (jsonb_build_object('n', {int}) ->> 'n')::int|int extract(dow FROM {ts})::int|text split_part({text}, 'a', 1)
text lpad({text}, 3, '*')
text regexp_replace({text}, '[ab]+', 'x')|text translate({text}, 'ab', 'b')|int width_bucket({num}, 0, 10, 4)
int position('b' IN {text})
date date_trunc('week', {ts})::date|num least({num}, {num}, 1.5)|text format('%s/%s', {int}, {text})
num trunc({num}, 1)|int sign({int})::int
bool {int} IS DISTINCT FROM {int}|bool ({int}, {text}) < ({int}, 'b')|text ({bool})::text|text md5({text})
big {int}::bigint * 1000000"""
SETS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
ORDERED = ("int", "big", "num", "text", "bool", "ts", "tz", "date", "float", "char", "gap")
KINDS = ("int", "int", "num", "text", "big", "bool", "ts", "date", "float")
FRAMES = (
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)

BY_TIME = (
    "RANGE BETWEEN interval '1 month' PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN interval '36 hours' PRECEDING AND interval '1 month' FOLLOWING",
)


def lines(text: str) -> list[list[str]]:
    return [x.split(" ", 1) for x in re.split(r"(?<!\|)\|(?!\|)|\n", text)]
