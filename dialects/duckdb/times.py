"""Dates, times and intervals."""

from __future__ import annotations

from sqlglot import exp

from compiler.formats.times import ENDLESS
from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from dialects.dialect import Dialect, Emit, tree

ERAS = {  # DuckDB counts years on through 1 BC, which is its year 0
    "year": "pg.year_of(DATE_PART('year', $1))",
    "isoyear": "pg.year_of(DATE_PART('isoyear', $1))",
    "decade": "pg.floor_div(DATE_PART('year', $1), 10)",
    "counted_year": "DATE_PART('year', $1)",
    "counted_isoyear": "DATE_PART('isoyear', $1)",
}


def _extract(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    field, source = str(e.args[0].value), e.args[1].type  # type: ignore[attr-defined]
    got = _field(d, e, field, source, a[1])
    if field in ENDLESS and source.name in ("date", "timestamp", "timestamptz") and not isinstance(e.args[1], Lit):
        return tree(d, f"pg.within('{field}', $1, $2)", a[1], got)
    return got


def _field(d: Dialect, e: Call, field: str, source: types.Type, x: exp.Expr) -> exp.Expr:
    if source.name == "timestamptz" and field != "epoch":
        x = tree(d, "$1 AT TIME ZONE 'UTC'", x)
    if field == "second":
        out = tree(d, "DATE_PART('microsecond', $1) / 1000000.0", x) if source.name != "date" else exp.Literal.number(0)
        return d.cast(d.cast(out, types.FLOAT8), e.type)
    if field == "milliseconds":
        return d.cast(d.cast(tree(d, "DATE_PART('microsecond', $1) / 1000.0", x), types.FLOAT8), e.type)
    if field == "microseconds":
        return d.cast(tree(d, "DATE_PART('microsecond', $1)", x), e.type)
    if field == "epoch":
        if source.name == "interval":
            return d.cast(tree(d, "pg.epoch_of($1)", x), e.type)
        x = d.cast(x, types.TIMESTAMP) if source.name == "date" else x
        return d.cast(tree(d, "EPOCH_US($1) * 0.000001", x), e.type)
    if source.name != "interval" and field in ERAS:
        return d.cast(tree(d, ERAS[field], x), e.type)
    return d.cast(tree(d, f"DATE_PART('{field}', $1)", x), e.type)


def _date_trunc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    def cut(x: exp.Expr) -> exp.Expr:
        return d.cast(exp.Anonymous(this="date_trunc", expressions=[a[0], x]), types.TIMESTAMP)

    if e.type.name == "timestamptz":
        return tree(d, "$1 AT TIME ZONE 'UTC'", cut(tree(d, "$1 AT TIME ZONE 'UTC'", a[1])))
    return cut(a[1]) if e.type.name == "timestamp" else exp.Anonymous(this="date_trunc", expressions=[a[0], a[1]])


def _at_zone(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Paren(this=exp.AtTimeZone(this=exp.Paren(this=a[0]), zone=a[1]))


def _round_time(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """To so many digits of a second, halves away from the year 2000, which Postgres counts from."""
    step = 10 ** (6 - int(str(e.args[1].value)))  # type: ignore[attr-defined]
    if e.type.name == "time":
        return tree(d, f"pg.clock_of(pg.nearest(EPOCH_US($1), {step}))", a[0])
    if e.type.name == "timestamptz":
        return tree(d, f"pg.round_timestamp($1 AT TIME ZONE 'UTC', {step}) AT TIME ZONE 'UTC'", a[0])
    return tree(d, f"pg.round_timestamp($1, {step})", a[0])


def _in_lengths(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    first, *rest = (tree(d, "pg.span($1)", x) for x in a)
    return exp.In(this=first, expressions=rest)


# by length, as Postgres: DuckDB takes 1 day -15:00:00 for more than 20:00:00
LENGTHS: dict[str, str | Emit] = {
    **{f"{op}:interval": f"pg.span($1) {op} pg.span($2)" for op in ("=", "<>", "<", "<=", ">", ">=")},
    "same:interval": "pg.span($1) IS NOT DISTINCT FROM pg.span($2)",
    "in:interval": _in_lengths,
}
PARTS = {"months": "pg.months_of($1)", "days": "DATEPART('day', $1)", "micros": "pg.micros_of($1)"}


def _interval_part(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    part = e.args[0]
    assert isinstance(part, Lit)
    return d.cast(tree(d, PARTS[str(part.value)], a[1]), e.type)


FUNCTIONS: dict[str, str | Emit] = {
    **LENGTHS,
    "extract": _extract,
    "date_trunc": _date_trunc,
    "at_zone": _at_zone,
    "now": "pg.now()",
    "age": "pg.age($1, $2)",
    "make_date": "MAKE_DATE($1, $2, $3)",
    "make_time": "MAKE_TIME($1, $2, CAST($3 AS DOUBLE))",
    "make_timestamp": "MAKE_TIMESTAMP($1, $2, $3, $4, $5, CAST($6 AS DOUBLE))",
    "to_timestamp": "TO_TIMESTAMP($1)",
    "isfinite": "ISFINITE($1)",
    "isfinite:interval": "CASE WHEN $1 IS NOT NULL THEN TRUE END",
    "date_bin": "pg.date_bin($1, $2, $3)",
    "justify_hours": "pg.justify_hours($1)",
    "justify_days": "pg.justify_days($1)",
    "round_time": _round_time,
    "interval_make": "pg.justify($1, $2, $3)",
    "intervals_form": "LIST_TRANSFORM($1, lambda v: [CAST(pg.months_of(v) AS BIGINT), DATEPART('day', v), "
    "pg.micros_of(v)])",
    "intervals_of": "LIST_TRANSFORM($1, lambda v: pg.justify(v[1], v[2], v[3]))",
    "interval_part": _interval_part,
}
