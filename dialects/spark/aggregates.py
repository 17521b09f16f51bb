"""Aggregates."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from dialects.dialect import Dialect, Emit, tree
from dialects.spark.common import fn, no
from dialects.spark.numbers import quotient


def _parts(a: list[exp.Expr]) -> tuple[list[exp.Expr], list[exp.Ordered], bool]:
    order = [x for x in a if isinstance(x, exp.Ordered)]
    args = [x for x in a if not isinstance(x, (exp.Ordered, exp.Distinct))]
    return args, order, any(isinstance(x, exp.Distinct) for x in a)


def _collected(d: Dialect, value: exp.Expr, order: list[exp.Ordered], distinct: bool) -> exp.Expr:
    """Values of a group as an array, in order: structs of sort keys and value, sorted, the value taken out."""
    if not order:
        return exp.Anonymous(
            this="collect_set" if distinct else "collect_list",
            expressions=[exp.Anonymous(this="struct", expressions=[exp.alias_(value, "v")])],
        )
    fields = [exp.alias_(o.this, f"k{i}") for i, o in enumerate(order)] + [exp.alias_(value, "v")]
    return exp.Anonymous(
        this="collect_set" if distinct else "collect_list",
        expressions=[exp.Anonymous(this="struct", expressions=fields)],
    )


def _sorted(d: Dialect, collected: exp.Expr, order: list[exp.Ordered]) -> exp.Expr:
    """The values, by the order: a comparator that knows DESC and where NULLs go."""
    compare = "0"
    for i, o in reversed(list(enumerate(order))):
        less, more = ("1", "-1") if o.args.get("desc") else ("-1", "1")
        first, last = ("-1", "1") if o.args.get("nulls_first") else ("1", "-1")
        compare = (
            f"CASE WHEN l.k{i} IS NULL AND r.k{i} IS NULL THEN {compare} WHEN l.k{i} IS NULL THEN {first} "
            f"WHEN r.k{i} IS NULL THEN {last} WHEN l.k{i} < r.k{i} THEN {less} WHEN l.k{i} > r.k{i} THEN {more} "
            f"ELSE {compare} END"
        )
    inner = tree(d, f"ARRAY_SORT($1, (l, r) -> {compare})", collected) if order else collected
    return exp.Anonymous(this="transform", expressions=[inner, _lambda(d, "x -> x.v")])


def _lambda(d: Dialect, text: str) -> exp.Expr:
    import sqlglot

    call = sqlglot.parse_one(f"f(a, {text})", read="spark")
    return call.expressions[1] if isinstance(call, exp.Anonymous) else list(call.iter_expressions())[1]


def _string_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, order, distinct = _parts(a)
    values = _sorted(d, _collected(d, args[0], order, distinct), order)
    some = exp.Anonymous(this="filter", expressions=[values, _lambda(d, "y -> y IS NOT NULL")])
    return tree(d, "CASE WHEN SIZE($1) = 0 THEN NULL ELSE ARRAY_JOIN($1, $2) END", some, args[1])


def _array_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, order, distinct = _parts(a)
    if distinct and e.args[0].type.name == "interval":
        raise no("array_agg(DISTINCT …) of intervals")
    values = _sorted(d, _collected(d, args[0], order, distinct), order)
    return tree(d, "CASE WHEN SIZE($1) = 0 THEN NULL ELSE $1 END", values)


def _within(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        fraction = e.args[0]
        if not isinstance(fraction, Lit):
            raise no(f"{name} of a fraction that is not constant")
        o = exp.Ordered(this=a[1].this, desc=a[1].args.get("desc"))
        return exp.WithinGroup(
            this=exp.Anonymous(this=name, expressions=[exp.Literal.number(str(fraction.value))]),
            expression=exp.Order(expressions=[o]),
        )

    return emit


def _percentile_disc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """The value at that share of the group's, in order; Spark's own takes numbers alone."""
    fraction = e.args[0]
    if not isinstance(fraction, Lit):
        raise no("percentile_disc of a fraction that is not constant")
    order = exp.Ordered(this=a[1].this, desc=a[1].args.get("desc"))
    every = _sorted(d, _collected(d, a[1].this, [order], False), [order])
    values = exp.Anonymous(this="filter", expressions=[every, _lambda(d, "y -> y IS NOT NULL")])
    place = f"GREATEST(CAST(CEIL(CAST({fraction.value} AS DOUBLE) * SIZE($1)) AS INT), 1) - 1"
    return tree(d, f"GET($1, {place})", values)


def _mode(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if e.type.name == "interval":
        raise no("mode of intervals")
    o = exp.Ordered(this=a[0].this, desc=a[0].args.get("desc"))
    return exp.WithinGroup(this=exp.Anonymous(this="mode", expressions=[]), expression=exp.Order(expressions=[o]))


def _sum(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, _, distinct = _parts(a)
    return d.cast(exp.Sum(this=exp.Distinct(expressions=args) if distinct else args[0]), e.type)


def _bit_xor(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, _, distinct = _parts(a)
    return exp.Anonymous(this="bit_xor", expressions=[exp.Distinct(expressions=args)] if distinct else args)


def _avg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    args, _, distinct = _parts(a)
    x = exp.Distinct(expressions=args) if distinct else args[0]
    t = e.args[0].type
    if types.is_float(t):
        return exp.Anonymous(this="avg", expressions=[x])
    if not types.is_number(t):
        raise no(f"AVG of {t}")
    wide = types.numeric(38, types.digits(t)[1])
    total, n = d.cast(exp.Sum(this=x), wide), d.cast(exp.Count(this=x.copy()), types.numeric(19, 0))
    return d.cast(quotient(d, total, n, wide, types.numeric(19, 0)), e.type)


def _statistic(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        args: list[exp.Expr] = [d.cast(x, types.FLOAT8) for x in a if not isinstance(x, exp.Distinct)]
        return d.cast(
            exp.Anonymous(this=name, expressions=[exp.Distinct(expressions=args)] if len(args) < len(a) else args),
            e.type,
        )

    return emit


def _corr(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Spark's own divides by zero where one side is constant: here it is NULL, as in Postgres."""
    x, y = (d.cast(v, types.FLOAT8) for v in a)
    return tree(
        d,
        "COVAR_POP($1, $2) / NULLIF(STDDEV_POP(CASE WHEN $2 IS NOT NULL THEN $1 END) "
        "* STDDEV_POP(CASE WHEN $1 IS NOT NULL THEN $2 END), 0)",
        x,
        y,
    )


def _extremum(name: str) -> Emit:
    """Intervals are compared by their length, not field by field."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        if e.args[0].type.name == "interval":
            return exp.Anonymous(this=f"{name}_by", expressions=[a[0], tree(d, "pg_length($1)", a[0])])
        return (exp.Min if name == "min" else exp.Max)(this=a[0])

    return emit


FUNCTIONS: dict[str, str | Emit] = {
    "agg:min": _extremum("min"),
    "agg:max": _extremum("max"),
    "agg:bool_and": fn("bool_and"),
    "agg:bool_or": fn("bool_or"),
    "agg:bit_and": fn("bit_and"),
    "agg:bit_or": fn("bit_or"),
    "agg:bit_xor": _bit_xor,
    "agg:sum": _sum,
    "agg:avg": _avg,
    "agg:any_value": "MIN($1)",
    "agg:string_agg": _string_agg,
    "agg:array_agg": _array_agg,
    "agg:percentile_cont": _within("percentile_cont"),
    "agg:percentile_disc": _percentile_disc,
    "agg:mode": _mode,
    "agg:corr": _corr,
    "agg:first_by": fn("min_by"),
    "agg:last_by": fn("max_by"),
    **{
        f"agg:{n}": _statistic(n)
        for n in (
            "stddev_samp",
            "stddev_pop",
            "var_samp",
            "var_pop",
            "covar_pop",
            "covar_samp",
            "regr_avgx",
            "regr_avgy",
            "regr_count",
            "regr_intercept",
            "regr_r2",
            "regr_slope",
            "regr_sxx",
            "regr_sxy",
            "regr_syy",
        )
    },
}
