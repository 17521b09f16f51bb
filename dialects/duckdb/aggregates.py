"""Aggregates."""

from __future__ import annotations

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.scalar import Call, Lit
from dialects.dialect import Dialect, Emit, cast_to_type, tree, varies


def _ordered(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        distinct = any(isinstance(x, exp.Distinct) for x in a)
        order = [
            x for x in a if isinstance(x, exp.Ordered) and varies(x)
        ]  # a constant orders nothing, and is an error here
        args = [x for x in a if not isinstance(x, (exp.Ordered, exp.Distinct))]
        if distinct:
            args[0] = exp.Distinct(expressions=[args[0]])
        if order:
            args[-1] = exp.Order(this=args[-1], expressions=order)
        return exp.Anonymous(this=name, expressions=args)

    return emit


def _string_agg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return _ordered("string_agg")(d, e, a)


def _percentile_cont(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Between two neighbours as Postgres counts, lo + (hi - lo) * part, so that equal ones give themselves."""
    return tree(d, "pg.percentile($1, $2)", _values(a[1]), _fraction(e))


def _percentile_disc(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return tree(d, "pg.discrete($1, $2)", _values(a[1]), _fraction(e))


def _values(o: exp.Expr) -> exp.Expr:
    """What a group is ordered by, in that order, NULLs last."""
    if not varies(o):
        return exp.Anonymous(this="list", expressions=[o.this.copy()])
    last = exp.Ordered(this=o.this.copy(), desc=o.args.get("desc"), nulls_first=False)
    return exp.Anonymous(this="list", expressions=[exp.Order(this=o.this.copy(), expressions=[last])])


def _fraction(e: Call) -> exp.Expr:
    fraction = e.args[0]
    if not isinstance(fraction, Lit):
        raise UnsupportedSql(f"{e.fn} needs a constant fraction", code="unsupported_function")
    return exp.Literal.number(str(fraction.value))


def _extremum(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        if e.args[0].type.name == "interval":
            return tree(d, f"ARG_{name.upper()}($1, pg.span($1))", a[0])
        return (exp.Min if name == "min" else exp.Max)(this=a[0])

    return emit


def _mode(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """The most frequent value; of several, Postgres takes the first in the order."""
    by = a[0].this
    if not varies(by):
        return exp.Min(this=by)
    most = exp.Anonymous(this="mode", expressions=[exp.Order(this=by.copy(), expressions=[a[0]])])
    if e.type.name != "interval":
        return most
    spans = exp.Anonymous(this="list", expressions=[by.expression.expressions[0].copy()])
    return tree(d, "pg.of_length($1, $2)", spans, most)


def _sum(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    if any(isinstance(x, exp.Distinct) for x in a):
        return d.cast(exp.Sum(this=exp.Distinct(expressions=[a[0]])), e.type)
    return d.cast(d.total(a[0], e.args[0].type), e.type)


def _avg(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    x = a[0]
    if any(isinstance(y, exp.Distinct) for y in a):
        x = exp.Distinct(expressions=[x])
    if types.is_float(e.args[0].type):
        return exp.Anonymous(this="avg", expressions=[x])
    if e.args[0].type.name == "interval":
        raise UnsupportedSql("AVG of intervals has no counterpart in duckdb", code="unsupported_function")
    added = exp.Sum(this=x) if isinstance(x, exp.Distinct) else d.total(x, e.args[0].type)
    total = d.cast(added, types.numeric(38, types.digits(e.args[0].type)[1]))
    count = d.cast(exp.Count(this=x.copy()), types.numeric(19, 0))
    return d.cast(d.template("pg.divide($1, $2)", [total, count]), e.type)


_X, _Y = "CASE WHEN $1 IS NOT NULL THEN $2 END", "CASE WHEN $2 IS NOT NULL THEN $1 END"  # of pairs that are whole
_XX, _YY, _XY = f"COVAR_POP({_X}, {_X})", f"COVAR_POP({_Y}, {_Y})", "COVAR_POP($1, $2)"
_SLOPE = f"CASE WHEN {_XX} <> 0 THEN {_XY} / {_XX} END"
_REGRESSION = {  # DuckDB's own fail for a NaN or an infinity, of which Postgres makes NaN
    "corr": f"CASE WHEN {_XX} <> 0 AND {_YY} <> 0 THEN {_XY} / SQRT({_XX} * {_YY}) END",
    "regr_slope": _SLOPE,
    "regr_intercept": f"AVG({_Y}) - AVG({_X}) * {_SLOPE}",
    "regr_r2": f"CASE WHEN {_XX} <> 0 AND {_YY} = 0 THEN 1 WHEN {_XX} <> 0 THEN POW({_XY}, 2) / ({_XX} * {_YY}) END",
    "regr_sxx": f"REGR_COUNT($1, $2) * {_XX}",
    "regr_syy": f"REGR_COUNT($1, $2) * {_YY}",
}


def _regression(name: str) -> Emit:
    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        args = [d.cast(x, types.FLOAT8) for x in a]
        text = _REGRESSION.get(name)
        return exp.Anonymous(this=name, expressions=args) if text is None else tree(d, text, *args)

    return emit


FUNCTIONS: dict[str, str | Emit] = {
    "agg:min": _extremum("min"),
    "agg:max": _extremum("max"),
    "agg:bool_and": "BOOL_AND($1)",
    "agg:bool_or": "BOOL_OR($1)",
    "agg:bit_and": "BIT_AND($1)",
    "agg:bit_or": "BIT_OR($1)",
    "agg:bit_xor": "BIT_XOR($1)",
    "agg:sum": _sum,
    "agg:avg": _avg,
    "agg:any_value": "MIN($1)",
    "agg:string_agg": _string_agg,
    "agg:array_agg": _ordered("list"),
    # the same numbers; DuckDB's own fail for a NaN or an infinity, of which Postgres makes NaN
    "agg:stddev_samp": cast_to_type("SQRT(COVAR_SAMP(CAST($1 AS DOUBLE), CAST($1 AS DOUBLE)))"),
    "agg:stddev_pop": cast_to_type("SQRT(COVAR_POP(CAST($1 AS DOUBLE), CAST($1 AS DOUBLE)))"),
    "agg:var_samp": cast_to_type("COVAR_SAMP(CAST($1 AS DOUBLE), CAST($1 AS DOUBLE))"),
    "agg:var_pop": cast_to_type("COVAR_POP(CAST($1 AS DOUBLE), CAST($1 AS DOUBLE))"),
    "agg:percentile_cont": _percentile_cont,
    "agg:percentile_disc": _percentile_disc,
    "agg:mode": _mode,
    "agg:first_by": "ARG_MIN_NULL($1, $2)",
    "agg:last_by": "ARG_MAX_NULL($1, $2)",
    "window:nth_by": "NTH_VALUE($1, $2 ORDER BY $3)",
    **{
        f"agg:{n}": _regression(n)
        for n in (
            "corr",
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
