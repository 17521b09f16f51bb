"""Scalar expressions to sqlglot trees: what is the same in every engine; the rest is the dialect's table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from compiler.errors import UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Agg, WindowCall
from compiler.ir.scalar import Call, Col, Lit, Scalar
from compiler.ir.types import Type
from dialects.arithmetic import compared
from dialects.dialect import Dialect, wrap

Cols = Mapping[str, exp.Expr]

BINARY = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
}


COMPARISONS = {"=", "<>", "<", "<=", ">", ">="}


class Scalars:
    """Emits scalars for a dialect; `cols` says what each column is computed from."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def predicate(self, e: Scalar, cols: Cols) -> exp.Expr:
        return self.emit(e, cols)

    def emit(self, e: Scalar, cols: Cols) -> exp.Expr:
        if isinstance(e, Col):
            return cols[e.name].copy()
        if isinstance(e, Lit):
            return self.literal(e)
        if isinstance(e, Call):
            parts = map(compared, e.args) if e.fn in COMPARISONS else e.args
            return self.call(e, [self.emit(a, cols) for a in parts])
        raise UnsupportedSql(f"cannot print {type(e).__name__}", code="internal")

    # -- literals

    def literal(self, e: Lit) -> exp.Expr:
        """A constant, with its type where its spelling alone does not say it."""
        v, t = e.value, e.type
        if v is None:
            return exp.Null() if t.name == "unknown" else self.dialect.cast(exp.Null(), t)
        if isinstance(v, bool):
            return exp.true() if v else exp.false()
        if types.is_integer(t):
            n = int(str(v))
            lit: exp.Expr = exp.Literal.number(abs(n))
            lit = exp.Neg(this=lit) if n < 0 else lit
            return lit if t.name == "int4" else self.dialect.cast(lit, t)
        if types.is_numeric(t):
            text = str(v)
            num: exp.Expr = exp.Literal.number(text.lstrip("-"))
            num = exp.Neg(this=num) if text.startswith("-") else num
            return self.dialect.cast(num, t)
        if types.is_string(t) or t.name == "unknown":
            return exp.Literal.string(str(v))
        return self.typed_literal(str(v), t)

    def typed_literal(self, text: str, t: Type) -> exp.Expr:
        fn = self.dialect.functions.get(f"literal:{t.name}")
        if fn is not None and not isinstance(fn, str):
            return fn(self.dialect, Call("literal", (Lit(text, t),), t), [exp.Literal.string(text)])
        return self.dialect.cast(exp.Literal.string(text), t)

    # -- calls

    def call(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        """A function by the dialect's own spelling, else by SQL's. UnsupportedSql where it has none."""
        for key in (f"{e.fn}:{e.args[0].type.name}" if e.args else e.fn, e.fn):
            fn = self.dialect.functions.get(key)
            if fn is not None:
                return self.dialect.template(fn, args) if isinstance(fn, str) else fn(self.dialect, e, args)
        if e.fn in BINARY and len(args) == 2:
            return BINARY[e.fn](this=wrap(args[0]), expression=wrap(args[1]))
        method = getattr(self, f"_{e.fn}", None)
        if method is not None:
            return method(e, args)  # type: ignore[no-any-return]
        raise UnsupportedSql(
            f"{e.fn}() has no counterpart in {self.dialect.name}",
            code="unsupported_function",
            hint="Compute it in the source, or place the view on another engine.",
        )

    def _and(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        out = _group(args[0], exp.Or)
        for a in args[1:]:
            out = exp.And(this=out, expression=_group(a, exp.Or))
        return out

    def _or(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        out = args[0]
        for a in args[1:]:
            out = exp.Or(this=out, expression=a)
        return exp.Paren(this=out) if len(args) > 1 else out

    def _not(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        if isinstance(args[0], exp.Is) and isinstance(args[0].expression, exp.Null):
            return exp.Is(this=args[0].this, expression=exp.Not(this=args[0].expression))
        return exp.Not(this=wrap(args[0]))

    def _neg(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.Neg(this=wrap(args[0]))

    def _is_null(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.Is(this=wrap(args[0]), expression=exp.Null())

    def _is_true(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.Coalesce(this=args[0], expressions=[exp.false()])

    def _is_false(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.Not(this=exp.Coalesce(this=args[0], expressions=[exp.true()]))

    def _same(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.NullSafeEQ(this=wrap(args[0]), expression=wrap(args[1]))

    def _in(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.In(this=wrap(args[0]), expressions=args[1:])

    def _case(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        ifs = [exp.If(this=args[i], true=args[i + 1]) for i in range(0, len(args) - 1, 2)]
        return exp.Case(ifs=ifs, default=args[-1])

    def _coalesce(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return exp.Coalesce(this=args[0], expressions=args[1:])

    def _cast(self, e: Call, args: list[exp.Expr]) -> exp.Expr:
        return self.dialect.cast(args[0], e.type)

    # -- aggregates and windows

    def aggregate(self, a: Agg, args: list[exp.Expr], order: list[exp.Expr]) -> exp.Expr:
        fn = self.dialect.functions.get(f"agg:{a.fn}")
        call = Call(a.fn, a.args, a.type)
        if fn is None:
            raise UnsupportedSql(
                f"aggregate {a.fn} has no counterpart in {self.dialect.name}", code="unsupported_function"
            )
        if a.distinct and len(args) > 1 and a.fn != "string_agg":
            raise UnsupportedSql(f"{a.fn}(DISTINCT …) of two arguments is not supported", code="unsupported_function")
        if isinstance(fn, str):
            out = self.dialect.template(fn, [exp.Distinct(expressions=args)] if a.distinct else args)
        else:
            out = fn(self.dialect, call, [*args, *order, *([exp.Distinct()] if a.distinct else [])])
        return out

    def filtered(self, call: exp.Expr, keep: exp.Expr) -> exp.Expr:
        """FILTER on every aggregate that the expression is made of."""
        return _each_aggregate(call, lambda a: exp.Filter(this=a, expression=exp.Where(this=keep.copy())))

    def over(self, c: WindowCall, call: exp.Expr, window: exp.Window) -> exp.Expr:
        """OVER on every function that the expression is made of; what is computed from them stays outside."""

        def put(a: exp.Expr) -> exp.Expr:
            w = window.copy()
            w.set("this", a)
            return w

        out = _each_aggregate(call, put)
        if c.fn == "count" and c.frame is not None and c.frame[1][0] == c.frame[2][0]:
            out = exp.Greatest(
                this=out, expressions=[exp.Literal.number(0)]
            )  # DuckDB 1.5.5 counts below 0 where a frame ends before it begins
        cast = c.fn in ("rank", "dense_rank", "row_number", "ntile", "count", "sum", "avg") and not isinstance(
            out, exp.Cast
        )
        return self.dialect.cast(out, c.type) if cast else out

    def window_function(self, c: WindowCall, args: list[exp.Expr]) -> exp.Expr:
        fn = self.dialect.functions.get(f"window:{c.fn}") or self.dialect.functions.get(f"agg:{c.fn}")
        if isinstance(fn, str):
            return self.dialect.template(fn, args)
        if fn is not None:
            return fn(self.dialect, Call(c.fn, c.args, c.type), args)
        if c.fn == "count":
            return exp.Count(this=args[0] if args else exp.Star())
        return exp.Anonymous(this=c.fn, expressions=args)


AGGREGATES = {
    "avg",
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
    "list",
    "string_agg",
    "quantile_cont",
    "quantile_disc",
    "mode",
    "collect_list",
    "collect_set",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
    "bit_xor",
    "stddev_samp",
    "stddev_pop",
    "var_samp",
    "var_pop",
    "percentile_cont",
    "percentile_disc",
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    "count",
    "arg_min_null",
    "arg_max_null",
    "min_by",
    "max_by",
}


def _each_aggregate(e: exp.Expr, f: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """`e` with its outermost aggregate (or window) functions replaced."""
    if isinstance(e, (exp.Filter, exp.WithinGroup, exp.AggFunc)) or (
        isinstance(e, exp.Anonymous) and str(e.this).lower() in AGGREGATES
    ):
        return f(e.copy())
    out = e.copy()
    for key, value in list(out.args.items()):
        if isinstance(value, exp.Expr):
            out.set(key, _each_aggregate(value, f))
        elif isinstance(value, list):
            out.set(key, [_each_aggregate(v, f) if isinstance(v, exp.Expr) else v for v in value])
    return out


def _group(e: exp.Expr, kind: type) -> exp.Expr:
    return exp.Paren(this=e) if isinstance(e, kind) else e
