"""Calls by name: functions, set-returning functions, aggregates and windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from compiler.bind import (
    aggregates,
    array_access,
    hypothetical,
    json_values,
    range_parts,
    ranges,
    rows,
    sets,
    whole_rows,
    windows,
)
from compiler.bind.clause import Binding, Clause
from compiler.bind.coerce import constant_int, no_function, padded, unsupported
from compiler.bind.functions import bind_function, check_call
from compiler.bind.functions.times import interval_named
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.functions.aggregates import AGGREGATES
from compiler.ir import types
from compiler.ir.outers import free
from compiler.ir.relation import Agg, Order, WindowCall
from compiler.ir.scalar import Call, Col, Lit, Outer, Scalar, case, cast, columns, conj, is_null, transform
from compiler.ir.scalar import walk as scalar_walk
from compiler.ir.subquery import ExistsSub, Sub
from compiler.ir.types import INT4, INT8, INTERVAL, JSONB, TEXT

TYPES = ("date", "text", "int2", "int4", "int8", "float4", "float8")  # a cast written as a call: date(created_at)
NOW = {
    "now": types.TIMESTAMPTZ,
    "current_timestamp": types.TIMESTAMPTZ,
    "transaction_timestamp": types.TIMESTAMPTZ,
    "statement_timestamp": types.TIMESTAMPTZ,
    "localtimestamp": types.TIMESTAMP,
    "current_date": types.DATE,
    "localtime": types.TIME,
}
ROUNDED = ("current_timestamp", "localtimestamp", "localtime")  # to a number of digits, where one is given
JSON_FUNCTIONS = {
    form.format(kind.name): (make, kind)
    for kind in (types.JSON, JSONB)
    for form, make in (
        ("to_{}", json_values.to_json),
        ("{}_build_array", json_values.build_array),
        ("{}_build_object", json_values.build_object),
    )
}
JSON_FUNCTIONS["array_to_json"] = (json_values.array_to_json, types.JSON)


def now(name: str, args: Sequence[Scalar] = ()) -> Scalar:
    """The time of the transaction that reads; dates are UTC's."""
    if args and name not in ROUNDED:
        raise no_function(name, args)
    at: Scalar = Call("now", (), types.TIMESTAMPTZ)
    if name not in NOW:
        raise UnsupportedSql(f"{name} is not supported", code="unsupported_function", hint="Use now() or localtime.")
    at = at if NOW[name] == types.TIMESTAMPTZ else cast(at, NOW[name])
    digits = constant_int(args[0]) if args else 6
    if digits is None or len(args) > 1:
        raise unsupported(f"{name} of digits that vary")
    return at if digits >= 6 else Call("round_time", (at, Lit(max(digits, 0), INT4)), at.type)


def percentile(agg: Agg, collected: Callable[[Agg], Col]) -> Scalar:
    """Of intervals: taken from their array, in order; between two of them, the way from one to the other in parts."""
    x, fraction = agg.order[0].expr, cast(agg.args[0], types.FLOAT8)
    some = Call("not", (is_null(x),), types.BOOL)
    keep = some if agg.filter is None else conj([agg.filter, some])
    items = collected(Agg("array_agg", (x,), types.array(INTERVAL), keep, False, agg.order))
    n = cast(Call("cardinality", (items,), INT4), types.FLOAT8)

    def at(place: Scalar) -> Scalar:
        return Call("array_get", (items, cast(place, INT4)), INTERVAL)

    def rounded(way: str, e: Scalar) -> Scalar:
        return Call(way, (e,), types.FLOAT8)

    one = Lit(1, INT4)
    if agg.fn == "percentile_disc":
        return at(Call("greatest", (cast(rounded("ceil", Call("*", (fraction, n), types.FLOAT8)), INT4), one), INT4))
    place = Call("*", (fraction, Call("-", (n, cast(one, types.FLOAT8)), types.FLOAT8)), types.FLOAT8)
    low, high = (Call("+", (cast(rounded(w, place), INT4), one), INT4) for w in ("floor", "ceil"))
    share = Call("-", (place, rounded("floor", place)), types.FLOAT8)
    way = Call("*", (Call("-", (at(high), at(low)), INTERVAL), share), INTERVAL)
    return Call("+", (at(low), way), INTERVAL)


def separated(agg: Agg, collected: Callable[[Agg], Col]) -> Scalar:
    """string_agg whose separator varies: each value after its own, and the first one's cut off."""
    value, before = agg.args[0], Call("coalesce", (agg.args[1], Lit("", TEXT)), TEXT)
    some = Call("not", (is_null(value),), types.BOOL)
    keep = some if agg.filter is None else conj([agg.filter, some])
    joined = collected(
        Agg("string_agg", (Call("||", (before, value), TEXT), Lit("", TEXT)), TEXT, keep, False, agg.order)
    )
    befores = collected(Agg("array_agg", (before,), types.array(TEXT), keep, False, agg.order))
    first = Call("length", (Call("array_get", (befores, Lit(1, INT4)), TEXT),), INT4)
    return Call("substring", (joined, Call("+", (first, Lit(1, INT4)), INT4)), TEXT)


class Calls(Binding):
    """Binds calls."""

    def function(self, e: Any, c: Clause) -> Scalar:
        """A call by name: a value of now, a subquery's form, an aggregate, a set-returning function, or a scalar one.
        Raises InvalidSql where the clause allows none of its kind, or no function takes these arguments."""
        name = str(e.this).lower() if not isinstance(e.this, exp.Expr) else e.this.name.lower()
        if name in NOW:
            return now(name, [self.bind(x, c) for x in e.expressions])
        if name == "exists" and len(e.expressions) == 1 and isinstance(e.expressions[0], exp.Query | exp.Values):
            return ExistsSub(self.subquery(e.expressions[0], c.around))
        if name == "array" and len(e.expressions) == 1 and isinstance(e.expressions[0], exp.Query):
            return array_access.of_subquery(self, e.expressions[0], c)
        if name == "age" and len(e.expressions) == 1:
            then = self.bind(e.expressions[0], c)
            check_call("age", [then])
            return bind_function("age", [now("current_date"), then])
        if name == "grouping":
            if c.grouping is None:
                raise InvalidSql(f"grouping operations are not allowed in {c.name}", code="grouping_error")
            return c.grouping([self.bind(x, c) for x in e.expressions])
        if name in AGGREGATES:
            return self.aggregate(e, c)
        if name in windows.WINDOW_ONLY:
            raise InvalidSql(f"window function {name} requires an OVER clause", code="windowing_error")
        if name in sets.NAMES:
            return self.set_returning(name, e, c)
        if name in ("to_json", "to_jsonb", "row_to_json") and len(e.expressions) == 1:
            kind = JSONB if name == "to_jsonb" else types.JSON
            if (row := whole_rows.row_as_json(kind, e.expressions[0], c)) is not None:
                return row
            if parts := rows.items(e.expressions[0]):
                return json_values.row(kind, [(f"f{i}", self.bind(x, c)) for i, x in enumerate(parts, 1)])
        if name == "make_interval" and any(isinstance(x, exp.Kwarg) for x in e.expressions):
            return interval_named(
                [self.bind(x, c) for x in e.expressions if not isinstance(x, exp.Kwarg)],
                {x.this.name.lower(): self.bind(x.expression, c) for x in e.expressions if isinstance(x, exp.Kwarg)},
            )
        if name in JSON_FUNCTIONS and (len(e.expressions) == 1 or "build" in name):
            make, kind = JSON_FUNCTIONS[name]
            return make(
                kind,
                [
                    row if (row := whole_rows.row_as_json(kind, x, c)) is not None else self.bind(x, c)
                    for x in e.expressions
                ],
            )
        if name in TYPES and len(e.expressions) == 1:
            return self.bind(exp.Cast(this=e.expressions[0].copy(), to=exp.DataType.build(name, dialect="postgres")), c)
        args = [self.bind(x, c) for x in e.expressions]
        if name in range_parts.ELEMENTS:
            return range_parts.make(name, args)
        return ranges.function(name, args) or bind_function(name, args)

    def set_returning(self, name: str, e: exp.Expr, c: Clause) -> Scalar:
        """A set-returning function in SELECT: a column that the clause notes, made into rows after GROUP BY. Raises
        UnsupportedSql where it stands in another clause or in another one's arguments, or gives rows."""
        if c.srfs is None:
            raise UnsupportedSql(
                f"{name}() is not supported in {c.name}",
                code="unsupported_syntax",
                hint="Call it in FROM, with LATERAL.",
            )
        inner = replace(c, srfs=[])
        within = e.expressions[0] if name == "unnest" and len(e.expressions) == 1 else None
        if isinstance(within, exp.Anonymous) and str(within.this).lower() == "regexp_matches":
            f = sets.matches_unnested([self.bind(x, inner) for x in within.expressions])
        else:
            f = sets.set_function(name, [self.bind(x, inner) for x in e.expressions])
        if inner.srfs:
            raise UnsupportedSql(
                f"{name}() of a set-returning function in SELECT is not supported",
                code="unsupported_syntax",
                hint="Call them in FROM, the inner one first.",
            )
        if len(f.columns) != 1:
            raise UnsupportedSql(
                f"{name}() in SELECT gives rows", code="unsupported_syntax", hint="Call it in FROM, with LATERAL."
            )
        if c.srfs and any(g.alone for g, _ in [*c.srfs, (f, None)]):
            raise UnsupportedSql(
                "unnest(regexp_matches(…)) beside another set-returning function in SELECT is not supported",
                code="unsupported_syntax",
                hint="Call the other one in FROM, with LATERAL.",
            )
        col = Col(self.binder.fresh(name), f.columns[0][1])
        c.srfs.append((f, col))
        return col

    def unnest_(self, e: Any, c: Clause) -> Scalar:
        return self.set_returning("unnest", e, c)

    def aggregate(self, e: Any, c: Clause) -> Scalar:
        """An aggregate as a column of the groups, which the clause notes; it may need several. One whose columns are
        all of an enclosing query belongs there. Raises InvalidSql where the clause allows none."""
        inner = Clause(c.scope, "an aggregate's arguments")
        if c.aggs is None:
            if self.outside(
                aggregates.bind_aggregate(e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner)), c
            ):
                return self.enclosing(e, c)
            raise InvalidSql(f"aggregate functions are not allowed in {c.name}", code="grouping_error")
        if (places := hypothetical.counts(e)) is not None:
            return self.bind(places, c)
        if (items := self.distinct_json(e, c, inner)) is not None:
            return items
        if (several := self.fractions(e)) is not None:
            parts = [self.aggregate(x, c) for x in several]
            t = types.array(parts[0].type)
            return case([(is_null(parts[0]), Lit(None, t))], Call("array", tuple(parts), t), t)  # of no values
        e = whole_rows.as_json(whole_rows.counted(e, c), inner)
        agg = aggregates.bind_aggregate(
            e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner), c.scope.order
        )
        if self.outside(agg, c):
            return self.enclosing(e, c)
        if agg.fn in ("percentile_cont", "percentile_disc") and agg.order[0].expr.type.name == "interval":
            return percentile(agg, lambda a: self.collected(a, c))
        if agg.fn == "string_agg" and columns(agg.args[1]):
            return separated(agg, lambda a: self.collected(a, c))
        if agg.fn in ("sum", "avg") and agg.args[0].type.name == "interval":
            return self.interval_total(agg, lambda a: self.collected(a, c))
        return aggregates.finish(e, self.collected(agg, c), lambda x: self.bind(x, inner))

    def outside(self, agg: Agg, c: Clause) -> bool:
        """Whether an aggregate reads columns of enclosing queries alone, and so belongs to one of these."""
        read = [x for s in agg.scalars for x in scalar_walk(s)]
        within = {o.name for x in read if isinstance(x, Sub) for o in free(x.query)}
        own = {col.name for s in c.scope.sources for _, col in s.columns}
        around = within - own or any(isinstance(x, Outer) for x in read)
        return bool(around) and not within & own and not any(isinstance(x, Col) for x in read)

    def enclosing(self, e: Any, c: Clause) -> Scalar:
        """An aggregate of the query around this one: collected there, a constant here."""
        around = c.scope.parent
        assert around is not None
        got = self.aggregate(e, Clause(around, "the clause around the subquery", around.aggs))
        return transform(got, lambda n: Outer(n.name, n.type) if isinstance(n, Col) else None)

    def collected(self, agg: Agg, c: Clause) -> Col:
        assert c.aggs is not None
        if agg not in c.aggs:
            c.aggs[agg] = Col(self.binder.fresh(agg.fn), agg.type)
        return c.aggs[agg]

    def interval_total(self, agg: Agg, collected: Callable[[Agg], Col]) -> Scalar:
        """Months, days and microseconds of intervals add up each by itself."""
        if agg.distinct:
            raise UnsupportedSql(f"{agg.fn}(DISTINCT …) of intervals is not supported", code="unsupported_function")
        (x,) = agg.args

        def part(name: str) -> Col:
            piece = Call("interval_part", (Lit(name, TEXT), x), INT8)
            return collected(Agg("sum", (piece,), types.sum_type(INT8), agg.filter))

        total = Call("interval_make", (part("months"), part("days"), part("micros")), INTERVAL)
        if agg.fn == "sum":
            return total
        return Call("/", (total, collected(Agg("count", (x,), INT8, agg.filter))), INTERVAL)

    def distinct_json(self, e: Any, c: Clause, inner: Clause) -> Scalar | None:
        """jsonb_agg(DISTINCT x): the array of x's distinct values, in their order; None for anything else."""
        call = aggregates.call_of(e)
        kind = json_values.AGGREGATES.get(str(call.this).lower()) if isinstance(call, exp.Anonymous) else None
        if kind is None or not any(
            isinstance(x, exp.Distinct) for x in call.walk(prune=lambda n: isinstance(n, exp.Query))
        ):
            return None
        e = e.copy()
        aggregates.call_of(e).set("this", "array_agg")
        agg = aggregates.bind_aggregate(e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner))
        x = padded(agg.args[0])
        order = tuple(replace(o, expr=padded(o.expr)) for o in agg.order) or (Order(x, False, False),)
        items = self.collected(replace(agg, args=(x,), type=types.array(x.type), order=order), c)
        return json_values.array_of_values(kind, items)

    def fractions(self, e: Any) -> list[exp.Expr] | None:
        """percentile_cont(ARRAY[…]): one call for each fraction; None for anything else."""
        call = aggregates.call_of(e)
        if (
            not isinstance(call, exp.WithinGroup)
            or len(call.this.expressions) != 1
            or not isinstance(call.this.expressions[0], exp.Array)
        ):
            return None
        out = []
        for i in range(len(call.this.expressions[0].expressions)):
            one = e.copy()
            inner = (one.this if isinstance(e, exp.Filter) else one).this
            inner.set("expressions", [inner.expressions[0].expressions[i]])
            out.append(one)
        return out

    def window(self, e: Any, c: Clause) -> Scalar:
        """A window function as a column, which the clause notes with its partition. Raises InvalidSql where the clause
        allows none."""
        if c.windows is None:
            raise InvalidSql(f"window functions are not allowed in {c.name}", code="windowing_error")
        inner = Clause(c.scope, "a window's definition", aggs=c.aggs, grouping=c.grouping)
        if (function := whole_rows.as_json(whole_rows.counted(e.this, c), inner)) is not e.this:
            e = e.copy()
            e.set("this", function)
        partition, spec = windows.bind_window(
            e, c.named_windows, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner)
        )
        if spec.fn in ("row_number", "lag", "lead", "ntile") and not partition and not spec.order:
            spec = replace(spec, order=c.scope.order)

        def over(call: WindowCall) -> Col:
            assert c.windows is not None
            key = (partition, call)
            if key not in c.windows:
                c.windows[key] = Col(self.binder.fresh(call.fn), call.type)
            return c.windows[key]

        if spec.fn in ("sum", "avg") and spec.args[0].type.name == "interval":
            return self.interval_total(
                Agg(spec.fn, spec.args, spec.type), lambda a: over(replace(spec, fn=a.fn, args=a.args, type=a.type))
            )
        return aggregates.finish(e.this, over(spec), lambda x: self.bind(x, inner))
