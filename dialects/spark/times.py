"""Dates, times and intervals."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from dialects.dialect import Dialect, Emit, tree, wrap
from dialects.spark.casts import added
from dialects.spark.common import fn, no


def _plus(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    op = "+" if e.fn == "+" else "-"
    x, y = e.args[0].type, e.args[1].type
    if x.name == "date" and y.name == "date":
        return tree(d, "DATEDIFF($1, $2)", *a)
    if x.name == "date" and types.is_integer(y):
        return tree(d, f"DATE_{'ADD' if op == '+' else 'SUB'}($1, CAST($2 AS INT))", *a)
    if e.type.name == "interval":
        if x.name == "time":
            return tree(d, "pg_interval(0, 0, pg_micros_of_day($1) - pg_micros_of_day($2))", *a)
        if x.name == "interval":
            return tree(
                d,
                "pg_interval_plus($1, $2)" if op == "+" else "pg_interval_plus($1, pg_interval_times_whole($2, -1))",
                *a,
            )
        return tree(d, "pg_between(UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ)), UNIX_MICROS(CAST($2 AS TIMESTAMP_LTZ)))", *a)
    if x.name == "time":
        if y.name != "interval":
            raise no(f"arithmetic of {x} and {y}")
        return tree(d, f"pg_clock(PMOD(pg_micros_of_day($1) {op} $2['micros'], 86400000000))", *a)
    if y.name == "time":
        return tree(d, f"$1 {op} pg_addable(pg_interval(0, 0, pg_micros_of_day($2)))", *a)
    if y.name == "interval":
        step = (
            added(d, str(e.args[1].value))
            if isinstance(e.args[1], Lit) and e.args[1].value is not None
            else tree(d, "pg_addable($1)", a[1])
        )
        return tree(d, f"$1 {op} $2", a[0], step)
    return tree(d, f"$1 {op} $2", *a)


def _extract(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    field, source = str(e.args[0].value), e.args[1].type  # type: ignore[attr-defined]
    x = a[1]
    if source.name == "interval":
        return d.cast(tree(d, _OF_INTERVAL[field], x), e.type) if field in _OF_INTERVAL else no_field(field)
    if source.name == "time":
        return (
            d.cast(tree(d, _OF_TIME[field], tree(d, "pg_micros_of_day($1)", x)), e.type)
            if field in _OF_TIME
            else no_field(field)
        )
    if source.name == "date" and field in ("hour", "minute", "second", "milliseconds", "microseconds", "epoch"):
        x = tree(d, "CAST($1 AS TIMESTAMP_NTZ)", x)
    special = {
        "dow": "DAYOFWEEK($1) - 1",
        "isodow": "WEEKDAY($1) + 1",
        "isoyear": "pg_year_of(DATE_PART('YEAROFWEEK', $1))",
        "counted_isoyear": "DATE_PART('YEAROFWEEK', $1)",
        "counted_year": "YEAR($1)",
        "epoch": "UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ)) / CAST(1000000 AS DECIMAL(7,0))",
        "decade": "FLOOR(YEAR($1) / 10)",
        "century": "pg_years_of(YEAR($1), 100)",
        "millennium": "pg_years_of(YEAR($1), 1000)",
        "milliseconds": "DATE_PART('SECOND', $1) * 1000",
        "microseconds": "DATE_PART('SECOND', $1) * 1000000",
        "isoweek": "WEEKOFYEAR($1)",
        "year": "pg_year_of(YEAR($1))",
        "month": "MONTH($1)",
        "day": "DAY($1)",
        "hour": "HOUR($1)",
        "minute": "MINUTE($1)",
        "week": "WEEKOFYEAR($1)",
        "quarter": "QUARTER($1)",
        "doy": "DAYOFYEAR($1)",
        "second": "DATE_PART('SECOND', $1)",
    }
    if field in ("second", "milliseconds", "microseconds"):
        s = exp.Anonymous(this="date_part", expressions=[exp.Literal.string("SECOND"), x])
        scale = {"second": 1, "milliseconds": 1000, "microseconds": 1000000}[field]
        return d.cast(exp.Mul(this=s, expression=exp.Literal.number(scale)), e.type)
    if m := re.fullmatch(r"(\w+)\(\$1\)( [-+] 1)?", special[field]):
        call: exp.Expr = exp.Anonymous(this=m[1].lower(), expressions=[x])
        if m[2]:
            call = (exp.Sub if "-" in m[2] else exp.Add)(this=call, expression=exp.Literal.number(1))
        return d.cast(call, e.type)
    return d.cast(tree(d, special[field], x), e.type)


SINGULAR = {"microseconds": "microsecond", "milliseconds": "millisecond"}


def _of_micros(micros: str) -> dict[str, str]:
    """What EXTRACT gives of a time of day or an interval, by fields, from its microseconds."""
    return {
        "hour": f"{micros} DIV 3600000000",
        "minute": f"{micros} DIV 60000000 % 60",
        "second": f"{micros} % 60000000 * CAST(0.000001 AS DECIMAL(6,6))",
        "epoch": f"{micros} * CAST(0.000001 AS DECIMAL(6,6))",
        "milliseconds": f"{micros} % 60000000 * CAST(0.001 AS DECIMAL(3,3))",
        "microseconds": f"{micros} % 60000000",
    }


_OF_TIME = _of_micros("$1")
_OF_INTERVAL = {
    **_of_micros("$1['micros']"),
    "day": "$1['days']",
    "month": "$1['months'] % 12",
    "year": "$1['months'] DIV 12",
    "decade": "$1['months'] DIV 120",
    "century": "$1['months'] DIV 1200",
    "millennium": "$1['months'] DIV 12000",
    "quarter": "$1['months'] % 12 DIV 3 + 1",
    "epoch": "CAST($1['months'] DIV 12 * CAST(31557600 AS BIGINT) + $1['months'] % 12 * CAST(2592000 AS BIGINT) + "
    "$1['days'] * "
    "CAST(86400 AS BIGINT) AS DECIMAL(20,0)) + $1['micros'] * CAST(0.000001 AS DECIMAL(6,6))",
}


def no_field(field: str) -> exp.Expr:
    raise no(f"extract({field})")


def _date_trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    unit = str(e.args[0].value).lower()  # type: ignore[attr-defined]
    if e.type.name == "interval" or unit == "decade":
        raise no(f"date_trunc('{unit}') of {e.type}")
    return d.cast(
        exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(SINGULAR.get(unit, unit)), a[1]]), e.type
    )


def _round_time(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """To so many digits of a second, halves away from the year 2000, which Postgres counts from."""
    if e.type.name == "time":
        raise no("time(n)")
    step = 10 ** (6 - int(str(e.args[1].value)))  # type: ignore[attr-defined]
    at = tree(
        d,
        f"TIMESTAMP_MICROS(pg_nearest(UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ)) - 946684800000000, {step}) + "
        f"946684800000000)",
        a[0],
    )
    return d.cast(at, e.type)


def _date_bin(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    micros = [tree(d, "UNIX_MICROS(CAST($1 AS TIMESTAMP_LTZ))", x) for x in a[1:]]
    return d.cast(
        tree(
            d,
            "TIMESTAMP_MICROS(pg_bin($1['days'] * CAST(86400000000 AS BIGINT) + $1['micros'], $2, $3))",
            a[0],
            *micros,
        ),
        e.type,
    )


def _make_timestamp(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="make_timestamp_ntz", expressions=[*a[:5], tree(d, "CAST($1 AS DECIMAL(18,6))", a[5])])


def _at_zone(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    utc = isinstance(a[1], exp.Literal) and a[1].this.upper() in ("UTC", "GMT", "Z")
    if e.type.name == "timestamp":
        x = a[0] if utc else exp.Anonymous(this="from_utc_timestamp", expressions=a)
        return d.cast(x, e.type)
    x = d.cast(a[0], types.TIMESTAMPTZ)
    return x if utc else exp.Anonymous(this="pg_to_utc", expressions=[x, a[1]])


def _compared(op: str) -> str:
    return f"pg_length($1) {op} pg_length($2)"


def _same_arrays(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.args[0].type.element == types.INTERVAL:
        return tree(d, "TRANSFORM($1, v -> pg_length(v)) <=> TRANSFORM($2, v -> pg_length(v))", *a)
    return exp.NullSafeEQ(this=wrap(a[0]), expression=wrap(a[1]))


FUNCTIONS: dict[str, str | Emit] = {
    "+": _plus,
    "-": _plus,
    "extract": _extract,
    "date_trunc": _date_trunc,
    "at_zone": _at_zone,
    "now": "CURRENT_TIMESTAMP()",
    **{f"{op}:interval": _compared(op) for op in ("=", "<>", "<", "<=", ">", ">=")},
    "same:interval": _compared("<=>"),
    "same:array": _same_arrays,
    "in:interval": lambda d, e, a: exp.In(
        this=tree(d, "pg_length($1)", a[0]), expressions=[tree(d, "pg_length($1)", x) for x in a[1:]]
    ),
    "age": "pg_age($1, $2)",
    "make_date": fn("make_date"),
    "make_timestamp": _make_timestamp,
    "to_timestamp": fn("timestamp_seconds"),
    "isfinite": "CASE WHEN $1 IS NOT NULL THEN TRUE END",
    "date_bin": _date_bin,
    "round_time": _round_time,
    "interval_make": "pg_interval(CAST($1 AS INT), CAST($2 AS INT), CAST($3 AS BIGINT))",
    "intervals_form": "TRANSFORM($1, v -> ARRAY(CAST(v['months'] AS BIGINT), CAST(v['days'] AS BIGINT), v['micros']))",
    "intervals_of": "TRANSFORM($1, v -> pg_interval(CAST(v[0] AS INT), CAST(v[1] AS INT), v[2]))",
    "interval_part": lambda d, e, a: d.cast(tree(d, f"$1['{e.args[0].value}']", a[1]), e.type),  # type: ignore[attr-defined]
}
