"""Window calls: partitions, named windows, frames."""

from __future__ import annotations

from sqlglot import exp

from compiler.bind.aggregates import Bind, bind_aggregate, call_of, orders
from compiler.bind.coerce import coerce, normal, unify
from compiler.bind.functions import check_call
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.functions.aggregates import AGGREGATES
from compiler.ir import types
from compiler.ir.relation import Order, WindowCall
from compiler.ir.scalar import Scalar, cast, columns, walk
from compiler.ir.subquery import Sub
from compiler.ir.types import FLOAT8, INT4, INT8, TEXT

RANKING = {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"}
OFFSETS = {"lag", "lead", "first_value", "last_value", "nth_value"}
WINDOW_ONLY = RANKING | OFFSETS


def bind_window(
    e: exp.Window,
    named: dict[str, exp.Window],
    bind: Bind,
    condition: Bind,
) -> tuple[tuple[Scalar, ...], WindowCall]:
    """(partition, call) of a window function; named windows are followed."""
    function = e.this
    if (
        isinstance(function, exp.WithinGroup)
        or isinstance(function, exp.Filter)
        and isinstance(function.this, exp.WithinGroup)
    ):
        raise UnsupportedSql(
            "OVER is not supported for an ordered-set aggregate",
            code="unsupported_syntax",
            detail="Postgres does not have it either.",
        )
    partition_by, order_by, spec = list(e.args.get("partition_by") or []), e.args.get("order"), e.args.get("spec")
    base = e.args.get("alias")
    while base is not None:
        name = base.name.lower()
        if name not in named:
            raise InvalidSql(f'window "{name}" does not exist', code="undefined_object")
        w = named[name]
        partition_by = partition_by or list(w.args.get("partition_by") or [])
        order_by = order_by or w.args.get("order")
        spec = spec or w.args.get("spec")
        base = w.args.get("alias")
    columns_of = [x for p in partition_by for x in (p.expressions if isinstance(p, exp.Tuple) else [p])]
    partition = tuple(normal(cast(x, TEXT) if x.type.name == "unknown" else x) for x in map(bind, columns_of))
    order = orders(order_by, bind)
    whole, function = function, call_of(function)
    if isinstance(function, (exp.IgnoreNulls, exp.RespectNulls)):
        raise UnsupportedSql("IGNORE NULLS is not supported", code="unsupported_syntax")
    if not isinstance(function, exp.Anonymous):
        raise UnsupportedSql(f"{function.key} is not supported as a window function", code="unsupported_syntax")
    name = str(function.this).lower()
    if name in WINDOW_ONLY:
        args = [bind(a) for a in function.expressions]
        if whole is not function:
            raise InvalidSql(
                "FILTER is not implemented for non-aggregate window functions", code="feature_not_supported"
            )
        call = _window_only(name, args, order)
    elif name in AGGREGATES:
        agg = bind_aggregate(whole, bind, condition)
        if agg.fn == "string_agg" and columns(agg.args[1]):
            raise UnsupportedSql(
                "string_agg over a window with a separator that is not a constant is not supported",
                code="unsupported_function",
            )
        if agg.distinct or agg.order:
            raise UnsupportedSql(
                "DISTINCT or ORDER BY within a window aggregate",
                code="unsupported_syntax",
                detail="Postgres does not have it either." if agg.distinct else "",
            )
        call = WindowCall(agg.fn, agg.args, agg.type, order, filter=agg.filter)
    else:
        raise InvalidSql(f"{name} is not a window function", code="wrong_object_type")
    return partition, WindowCall(call.fn, call.args, call.type, call.order, _frame(spec, bind, name), call.filter)


def _window_only(name: str, args: list[Scalar], order: tuple[Order, ...]) -> WindowCall:
    check_call(name, args)
    if name in RANKING:
        t = FLOAT8 if name in ("percent_rank", "cume_dist") else INT4 if name == "ntile" else INT8
        if any(columns(a) for a in args):
            raise UnsupportedSql(
                f"{name} of a number that differs from row to row is not supported",
                code="unsupported_function",
                detail="Postgres takes it from the first row of each partition.",
            )
        return WindowCall(name, tuple(coerce(a, types.INT4) for a in args), t, order)
    x = coerce(args[0], TEXT)
    rest = [coerce(a, types.INT4) if i == 0 else a for i, a in enumerate(args[1:])]
    if name in ("lag", "lead") and len(rest) == 2:
        (x, rest[1]), _ = unify([x, rest[1]], name.upper())
    return WindowCall(name, (x, *rest), x.type, order)


def _frame(spec: exp.Expr | None, bind: Bind, name: str):  # type: ignore[no-untyped-def]
    if spec is None or name in RANKING or name in ("lag", "lead"):
        return None

    def bound(side: str, default: tuple[str, Scalar | None]) -> tuple[str, Scalar | None]:
        v, where = spec.args.get(side), spec.args.get(f"{side}_side")
        if v is None:
            return default
        text = v if isinstance(v, str) else None
        if text == "CURRENT ROW":
            return ("current row", None)
        direction = str(where or "").lower()
        if text == "UNBOUNDED":
            return (f"unbounded {direction}", None)
        x = bind(v)
        if any(isinstance(n, Sub) for n in walk(x)):
            raise UnsupportedSql(
                "a subquery as the distance of a window's frame is not supported",
                code="unsupported_subquery",
                hint="Join the rows to the distance, and compare with it.",
            )
        if columns(x):
            raise InvalidSql(
                f"argument of {str(spec.args.get('kind') or 'RANGE').upper()} must not contain variables",
                code="invalid_column_reference",
            )
        if x.type.name == "unknown":
            x = cast(x, INT8 if spec.args.get("kind") in ("ROWS", "GROUPS") else types.INTERVAL)
        return (direction, x)

    exclude = spec.args.get("exclude")
    return (
        str(spec.args.get("kind") or "RANGE").lower(),
        bound("start", ("unbounded preceding", None)),
        bound("end", ("current row", None)),
        exclude.name.lower() if exclude is not None else "",
    )
