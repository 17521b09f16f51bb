"""Aggregate calls: argument types, result types, order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from compiler.bind import json_values, multiranges, range_order, ranges
from compiler.bind.coerce import coerce, joined, no_function, normal, padded, without_blanks
from compiler.bind.composites import is_composite
from compiler.bind.failing import under_filter
from compiler.bind.functions import check_call
from compiler.bind.functions.texts import nullable
from compiler.bind.operators import label, ordinal
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.functions.aggregates import AGGREGATES, CORES, STATISTICS
from compiler.functions.signatures import signatures
from compiler.ir import types
from compiler.ir.relation import Agg, Order
from compiler.ir.scalar import Call, Lit, Scalar, case, cast, columns, is_null
from compiler.ir.types import BOOL, FLOAT8, INT4, INT8, INTERVAL, TEXT, innermost
from compiler.opaque import varies

Bind = Callable[[exp.Expr], Scalar]

BREAK = "\n "
RANGES = {"range_agg": multiranges.aggregated, "range_intersect_agg": multiranges.in_common}


def call_of(e: Any) -> Any:
    """The call itself, without its FILTER."""
    return e.this if isinstance(e, exp.Filter) else e


def orders(e: exp.Expr | None, bind: Bind, whole: bool = False) -> tuple[Order, ...]:
    """ORDER BY's items. A range is ordered by its parts, but where it is to be left `whole` for now."""
    out = []
    for o in (p for x in (e.expressions if e is not None else []) for p in _parts(x)):
        x = bind(o.this) if isinstance(o, exp.Ordered) else bind(o)
        x = ordinal(cast(x, TEXT) if x.type.name == "unknown" else x)
        desc = bool(isinstance(o, exp.Ordered) and o.args.get("desc"))
        nulls = o.args.get("nulls_first") if isinstance(o, exp.Ordered) else None
        keys = [x] if whole else range_order.keys(x)
        out += [Order(k, desc, desc if nulls is None else bool(nulls)) for k in keys]
    return tuple(out)


def _parts(o: exp.Expr) -> list[exp.Expr]:
    """ORDER BY (a, b) DESC orders by each of the row's columns so."""
    row = o.this if isinstance(o, exp.Ordered) else o
    if not isinstance(row, exp.Tuple):
        return [o]
    return [exp.Ordered(**{**(o.args if isinstance(o, exp.Ordered) else {}), "this": x}) for x in row.expressions]


def bind_aggregate(e: exp.Expr, bind: Bind, condition: Bind, arriving: tuple[Order, ...] = ()) -> Agg:
    """An aggregate with its DISTINCT, ORDER BY, FILTER and WITHIN GROUP; a list without ORDER BY is in the order
    rows arrive in."""
    keep: Scalar | None = None
    if isinstance(e, exp.Filter):
        keep = condition(e.expression.this)
        e = e.this
    order: tuple[Order, ...] = ()
    within = False
    if isinstance(e, exp.WithinGroup):
        order, within = orders(e.expression, bind), True
        e = e.this
    name = e.this.lower() if isinstance(e, exp.Anonymous) and isinstance(e.this, str) else e.name.lower()
    if name not in AGGREGATES:
        raise InvalidSql(f"{name} is not an aggregate function", code="wrong_object_type")
    raw, distinct = list(e.expressions), False
    args: list[Scalar] = []
    for a in raw:
        if isinstance(a, exp.Order):
            order = orders(a, bind)
            a = a.this
        if isinstance(a, exp.Distinct):
            distinct = True
            for x in a.expressions:
                if isinstance(x, exp.Order):
                    order = orders(x, bind)
                    x = x.this
                args.append(_row_text(x, bind) if _is_row(x) else bind(x))
        elif isinstance(a, exp.Star):
            continue
        elif a is not None:
            args.append(bind(a))
    if within and not AGGREGATES[name].within:
        check_call(name, [*args, *map(_ordered, order)])
        raise InvalidSql(
            f"{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP", code="wrong_object_type"
        )
    if distinct or order or not AGGREGATES[name].ordered:
        arriving = order
    return under_filter(build(name, args, keep, distinct, arriving, bool(e.meta.get("rows"))))


def _ordered(o: Order) -> Scalar:
    """What WITHIN GROUP orders by; of an enum the value, not its place."""
    return o.expr.args[0] if isinstance(o.expr, Call) and o.expr.fn.startswith("enum_ordinal") else o.expr


def shows_order(name: str) -> bool:
    """Whether the order of rows shows in what a function of the name gives."""
    return name in AGGREGATES and AGGREGATES[name].ordered


def listed(e: exp.Select) -> bool:
    """Whether the order in which the rows of FROM arrive shows: in lists without ORDER BY, LIMIT without it, and
    ARRAY(SELECT …)."""
    if e.args.get("order") is None and (e.args.get("limit") is not None or e.args.get("offset") is not None):
        return True
    calls = [f for x in e.expressions for f in x.find_all(exp.Anonymous) if shows_order(str(f.this).lower())]
    return any(not any(isinstance(a, exp.Order | exp.Distinct) for a in f.expressions) for f in calls)


def _is_row(e: exp.Expr) -> bool:
    return isinstance(e, exp.Tuple) or isinstance(e, exp.Anonymous) and str(e.this).lower() == "row"


def _row_text(e: exp.Expr, bind: Bind) -> Scalar:
    """A text that two rows share only when they are equal, NULLs included."""
    parts: list[Scalar] = []
    for x in e.expressions:
        a = normal(coerce(bind(x), TEXT))
        if innermost(a.type).name in ("interval", "float4", "float8") or varies(a.type):
            raise UnsupportedSql(
                f"DISTINCT of rows with {a.type} is not supported",
                code="unsupported_function",
                detail="Values of this type may be equal and written in two ways.",
                hint="Take SELECT DISTINCT of the columns in a subquery, and count(*) of that.",
            )
        parts += [Lit(",", TEXT)] * bool(parts) + [nullable(a)]
    return joined(parts)


def build(
    name: str, args: list[Scalar], keep: Scalar | None, distinct: bool, order: tuple[Order, ...], rows: bool = False
) -> Agg:
    """The aggregate as it is maintained. `rows`: of the rows of a table, which json_agg has each on a line of its
    own."""
    row = AGGREGATES[name]
    fn = row.core
    given = [*args, *map(_ordered, order)] if row.within else args
    if (row.within or name not in signatures()) and len(args) != row.arguments:  # without a row: of a newer server
        raise no_function(name, given)
    check_call(name, given, row.within)
    if row.within and not order:
        raise InvalidSql(f"WITHIN GROUP is required for ordered-set aggregate {name}", code="syntax_error")
    if name in json_values.OBJECTS:
        if distinct:
            raise UnsupportedSql(
                f"{name}(DISTINCT …) is not supported", code="unsupported_function", hint="Take DISTINCT in a subquery."
            )
        return _object(name, args, keep, order)
    if name in RANGES:
        if not ranges.spans(args[0].type):
            raise no_function(name, args)
        if name != "range_agg" and multiranges.is_multirange(args[0].type):
            raise UnsupportedSql(f"{name} of {args[0].type} is not supported", code="unsupported_function")
        return Agg("array_agg", (cast(args[0], TEXT),), types.array(TEXT), keep)
    if name in json_values.AGGREGATES:
        if distinct:
            raise UnsupportedSql(
                f"{name}(DISTINCT …) is not supported", code="unsupported_function", hint="Take DISTINCT in a subquery."
            )
        item, between = json_values.element(args[0], json_values.AGGREGATES[name]), ", "
        if _broken(name, args[0], rows):
            if _padded(args[0]):
                item = case([(is_null(args[0]), item)], json_values.text(BREAK, item), TEXT)
            else:
                between += BREAK
        args = [item, Lit(between, TEXT)]
    if distinct:
        args = [without_blanks(a) for a in args]
        order = tuple(replace(o, expr=without_blanks(o.expr)) for o in order)
    if fn in ("bool_and", "bool_or"):
        args = [coerce(args[0], BOOL)]
    elif fn == "string_agg":
        if args[0].type.name == "bytea":
            raise UnsupportedSql(
                "string_agg of bytea is not supported",
                code="unsupported_function",
                hint="Collect its text: string_agg(encode(x, 'hex'), ',').",
            )
        args = [cast(a, TEXT) for a in args]
        if args[1] == Lit(None, TEXT):
            args[1] = Lit("", TEXT)
        if columns(args[1]) and distinct:
            raise UnsupportedSql(
                "string_agg(DISTINCT …) with a separator that is not a constant is not supported",
                code="unsupported_function",
            )
    elif row.arguments == 2 or fn in ("percentile_cont", "percentile_disc"):
        args = [coerce(a, FLOAT8) for a in args]
    elif fn in ("sum", "avg") or fn in STATISTICS:
        args = [cast(args[0], INTERVAL) if args[0].type.name == "time" else coerce(args[0], FLOAT8)]
    elif fn in ("min", "max"):
        args = [_single(name, coerce(args[0], TEXT))]
    else:
        args = [coerce(a, TEXT) for a in args]
    if fn in ("percentile_disc", "mode") and isinstance(order[0].expr, Call) and order[0].expr.fn == "enum_ordinals":
        raise UnsupportedSql(f"{name} of arrays of enums is not supported", code="unsupported_function")
    if fn in ("percentile_cont", "percentile_disc"):
        if args[0].type.name == "array":
            raise UnsupportedSql(
                f"{name} of an array of fractions that are not listed is not supported",
                code="unsupported_function",
                hint="Call it once a fraction.",
            )
        if isinstance(args[0], Lit) and args[0].value is None:
            raise UnsupportedSql(
                f"{name} of a fraction that is NULL is not supported", code="unsupported_function", hint="It is NULL."
            )
        spans = order[0].expr.type.name == "interval"
        t = FLOAT8 if fn == "percentile_cont" and not spans else order[0].expr.type
        if fn == "percentile_cont" and not spans:
            order = (Order(cast(order[0].expr, FLOAT8), order[0].desc, order[0].nulls_first),)
    elif fn == "mode":
        t = order[0].expr.type
    else:
        t = CORES[fn].result(args[0].type if args else INT8)
    if (
        distinct
        and fn in ("string_agg", "array_agg")
        and not order
        and args[0].type.name not in ("json", "jsonb", "array")
    ):
        order = (Order(ordinal(args[0]), False, False),)  # Postgres sorts them to find equal ones
    if distinct and fn == "array_agg" and args[0].type.name == "jsonb":
        raise UnsupportedSql(
            f"{name}(DISTINCT …) of jsonb is not supported",
            code="unsupported_function",
            detail="Postgres gives them in an order of its own.",
            hint=f"Collect their text: {name}(DISTINCT x::text).",
        )
    if distinct and fn == "count":
        args = [normal(a) for a in args]
    distinct = distinct and not row.idempotent
    return Agg(fn, tuple(args), t, keep, distinct, order if fn not in ("count", "sum", "avg", "min", "max") else ())


def _broken(name: str, x: Scalar, rows: bool) -> bool:
    """Whether Postgres breaks the line before an element that is not NULL: before rows and arrays, not before JSON."""
    return name == "json_agg" and (rows or x.type.name == "array" or is_composite(x.type))


def _padded(x: Scalar) -> bool:
    """Whether an array, a composite value, or a row that an outer join may not find, may be NULL."""
    return x.type.name == "array" or is_composite(x.type) or isinstance(x, Call) and x.fn == "case"


def _single(name: str, e: Scalar) -> Scalar:
    """What values are ordered by; of an array of enums, there is no way back."""
    if e.type.name == "array" and innermost(e.type).name == "enum":
        raise UnsupportedSql(f"{name} of {e.type} is not supported", code="unsupported_function")
    return ordinal(e)


def _object(fn: str, args: list[Scalar], keep: Scalar | None, order: tuple[Order, ...]) -> Agg:
    """The members of an object: json's in one text; jsonb's as a list, by length of key and then by bytes, and of
    one key the last first, which is the one that is kept."""
    target = json_values.OBJECTS[fn]
    key = cast(padded(args[0]), TEXT)
    member = json_values.member(key, args[1], target)
    if target == types.JSONB:
        backwards = (Order(o.expr, not o.desc, not o.nulls_first) for o in order)
        order = (Order(Call("octet_length", (key,), INT4), False, False), Order(key, False, False), *backwards)
        return Agg("array_agg", (member,), types.array(TEXT), keep, False, order)
    return Agg("string_agg", (member, Lit(", ", TEXT)), TEXT, keep, False, order)


def finish(e: exp.Expr, col: Scalar, bind: Bind) -> Scalar:
    """What the call means, over the column of what is aggregated for it."""
    call = call_of(e)
    within = call if isinstance(call, exp.WithinGroup) else None
    call = within.this if within is not None else call
    name = call.this.lower() if isinstance(call, exp.Anonymous) and isinstance(call.this, str) else call.name.lower()
    if name in ("min", "max", "mode", "percentile_disc") and col.type == INT4:
        raw = within.expression.expressions[0] if within is not None else call.expressions[0]
        raw = (
            raw.this
            if isinstance(raw, exp.Ordered | exp.Order)
            else raw.expressions[0]
            if isinstance(raw, exp.Distinct)
            else raw
        )
        t = bind(raw).type
        return label(col, t) if t.name == "enum" else col
    if name in json_values.OBJECTS:
        return json_values.object_of(json_values.OBJECTS[name], col)
    if name not in json_values.AGGREGATES and name not in RANGES:
        return col
    arg = call.expressions[0]
    while isinstance(arg, (exp.Order, exp.Distinct)):
        arg = arg.this if isinstance(arg, exp.Order) else arg.expressions[0]
    operand = bind(arg)
    if name in RANGES:
        return RANGES[name](col, operand.type)
    if _broken(name, operand, bool(call.meta.get("rows"))) and _padded(operand):  # the first has no line of its own
        breaks = Call("starts_with", (col, Lit(BREAK, TEXT)), BOOL)
        col = case([(breaks, Call("substring", (col, Lit(len(BREAK) + 1, INT4)), TEXT))], col, TEXT)
    return json_values.array_of(json_values.AGGREGATES[name], col, operand.type)
