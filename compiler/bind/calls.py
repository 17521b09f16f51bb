"""Calls by name: functions, set-returning functions, aggregates and windows."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from compiler.bind import aggregates, array_access, json_values, sets
from compiler.bind.clause import Binding, Clause
from compiler.bind.functions import bind_function
from compiler.bind.functions.times import make_interval
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.ir import types
from compiler.ir.relation import Agg
from compiler.ir.scalar import Call, Col, Lit, Outer, Scalar, case, cast, is_null
from compiler.ir.scalar import walk as scalar_walk
from compiler.ir.types import INT8, INTERVAL, JSONB, TEXT

NOW = {"now": types.TIMESTAMPTZ, "current_timestamp": types.TIMESTAMPTZ, "transaction_timestamp": types.TIMESTAMPTZ,
       "statement_timestamp": types.TIMESTAMPTZ, "localtimestamp": types.TIMESTAMP, "current_date": types.DATE, "localtime": types.TIME}
JSON_FUNCTIONS = {form.format(kind.name): (make, kind) for kind in (types.JSON, JSONB) for form, make in (
    ("to_{}", json_values.to_json), ("{}_build_array", json_values.build_array), ("{}_build_object", json_values.build_object))}


def now(name: str) -> Scalar:
    """The time of the transaction that reads; dates are UTC's."""
    at = Call("now", (), types.TIMESTAMPTZ)
    if name not in NOW:
        raise UnsupportedSql(f"{name} is not supported", code="unsupported_function", hint="Use now() or localtime.")
    return at if NOW[name] == types.TIMESTAMPTZ else cast(at, NOW[name])


class Calls(Binding):
    """Binds calls."""

    def function(self, e: Any, c: Clause) -> Scalar:
        name = str(e.this).lower() if not isinstance(e.this, exp.Expr) else e.this.name.lower()
        if name in NOW:
            return now(name)
        if name == "array" and len(e.expressions) == 1 and isinstance(e.expressions[0], exp.Query):
            query = e.expressions[0].copy()
            if query.args.get("order") is not None and query.args.get("limit") is None:
                query.set("limit", exp.Limit(expression=exp.Literal.number(2**31 - 1)))  # so that the order is kept
            return array_access.of_subquery(self, self.subquery(query, c.scope))
        if name == "age" and len(e.expressions) == 1:
            return bind_function("age", [now("current_date"), self.bind(e.expressions[0], c)])
        if name == "grouping":
            if c.grouping is None:
                raise InvalidSql("GROUPING is not allowed here", code="grouping_error")
            return c.grouping([self.bind(x, c) for x in e.expressions])
        if name in aggregates.NAMES:
            return self.aggregate(e, c)
        if name in aggregates.WINDOW_ONLY:
            raise InvalidSql(f"window function {name} requires an OVER clause", code="windowing_error")
        if name in sets.NAMES:
            return self.set_returning(name, e, c)
        if name in ("to_json", "to_jsonb", "row_to_json") and len(e.expressions) == 1 and (whole := self.whole_row(e.expressions[0], c)):
            return json_values.row(JSONB if name == "to_jsonb" else types.JSON, whole)
        if name == "make_interval" and any(isinstance(x, exp.Kwarg) for x in e.expressions):
            return make_interval({x.this.name.lower(): self.bind(x.expression, c) for x in e.expressions})
        args = [self.bind(x, c) for x in e.expressions]
        if name in JSON_FUNCTIONS:
            make, kind = JSON_FUNCTIONS[name]
            return make(kind, args)
        return bind_function(name, args)

    def whole_row(self, e: exp.Expr, c: Clause) -> list[tuple[str, Scalar]]:
        """The columns of the table that a bare name stands for; none when it is a column."""
        if not isinstance(e, exp.Column) or e.args.get("table") is not None or not isinstance(e.this, exp.Identifier):
            return []
        name = e.this.this if e.this.args.get("quoted") else e.this.this.lower()
        if c.scope.local(None, name) is not None:
            return []
        return next(([(n, col) for n, col in s.columns] for s in c.scope.sources if s.alias == name), [])

    def set_returning(self, name: str, e: exp.Expr, c: Clause) -> Scalar:
        if c.srfs is None:
            raise UnsupportedSql(f"{name}() is not supported in {c.name}", code="unsupported_syntax",
                                 hint="Call it in FROM, with LATERAL.")
        f = sets.set_function(name, [self.bind(x, c) for x in e.expressions])
        if len(f.columns) != 1:
            raise UnsupportedSql(f"{name}() in SELECT gives rows", code="unsupported_syntax", hint="Call it in FROM, with LATERAL.")
        col = Col(self.binder.fresh(name), f.columns[0][1])
        c.srfs.append((f, col))
        return col

    def unnest_(self, e: Any, c: Clause) -> Scalar:
        return self.set_returning("unnest", e, c)

    def aggregate(self, e: Any, c: Clause) -> Scalar:
        inner = Clause(c.scope, "an aggregate's arguments")
        if c.aggs is None:
            self.outside(aggregates.bind_aggregate(e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner)))
            raise InvalidSql(f"aggregate functions are not allowed in {c.name}", code="grouping_error")
        if (several := self.fractions(e)) is not None:
            parts = [self.aggregate(x, c) for x in several]
            t = types.array(parts[0].type)
            return case([(is_null(parts[0]), Lit(None, t))], Call("array", tuple(parts), t), t)  # of no values
        e = self.rows_as_json(self.rows_counted(e, c), inner)
        agg = aggregates.bind_aggregate(e, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner))
        if agg.fn in ("sum", "avg") and agg.args[0].type.name == "interval":
            return self.interval_total(agg, c)
        self.outside(agg)
        return aggregates.finish(e, self.collected(agg, c), lambda x: self.bind(x, inner))

    def outside(self, agg: Agg) -> None:
        """Refuse an aggregate that belongs to the query around this one."""
        read = [x for s in agg.scalars for x in scalar_walk(s)]
        if any(isinstance(x, Outer) for x in read) and not any(isinstance(x, Col) for x in read):
            raise UnsupportedSql("an aggregate over columns of the enclosing query alone belongs to that query", code="unsupported_syntax",
                                 hint="Compute it in a subquery in FROM, and read its result here.")

    def collected(self, agg: Agg, c: Clause) -> Col:
        assert c.aggs is not None
        if agg not in c.aggs:
            c.aggs[agg] = Col(self.binder.fresh(agg.fn), agg.type)
        return c.aggs[agg]

    def interval_total(self, agg: Agg, c: Clause) -> Scalar:
        """Months, days and microseconds of intervals add up each by itself."""
        if agg.distinct:
            raise UnsupportedSql(f"{agg.fn}(DISTINCT …) of intervals is not supported", code="unsupported_function")
        (x,) = agg.args

        def part(name: str) -> Col:
            piece = Call("interval_part", (Lit(name, TEXT), x), INT8)
            return self.collected(Agg("sum", (piece,), types.sum_type(INT8), agg.filter), c)

        total = Call("interval_make", (part("months"), part("days"), part("micros")), INTERVAL)
        if agg.fn == "sum":
            return total
        return Call("/", (total, self.collected(Agg("count", (x,), INT8, agg.filter), c)), INTERVAL)

    def fractions(self, e: Any) -> list[exp.Expr] | None:
        """percentile_cont(ARRAY[…]): one call for each fraction; None for anything else."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.WithinGroup) or len(call.this.expressions) != 1 or not isinstance(call.this.expressions[0], exp.Array):
            return None
        out = []
        for i in range(len(call.this.expressions[0].expressions)):
            one = e.copy()
            inner = (one.this if isinstance(e, exp.Filter) else one).this
            inner.set("expressions", [inner.expressions[0].expressions[i]])
            out.append(one)
        return out

    def rows_counted(self, e: Any, c: Clause) -> Any:
        """count(t.*) counts the rows that are there: those whose key is."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.Anonymous) or str(call.this).lower() != "count" or len(call.expressions) != 1:
            return e
        arg = call.expressions[0]
        alias = arg.args.get("table") if isinstance(arg, exp.Column) and isinstance(arg.this, exp.Star) else None
        if alias is None:
            return e
        name = alias.this if alias.args.get("quoted") else alias.this.lower()
        table = next((s.table for s in c.scope.sources if s.alias == name), None)
        if table is None or not table.key:
            raise UnsupportedSql(f"count({name}.*) of what is no table with a key is not supported", code="unsupported_syntax",
                                 hint="Count a column that is never NULL.")
        e = e.copy()
        call = e.this if isinstance(e, exp.Filter) else e
        call.set("expressions", [exp.column(exp.to_identifier(table.key[0], quoted=True), table=alias.copy())])
        return e

    def rows_as_json(self, e: Any, c: Clause) -> Any:
        """json_agg of a table's name aggregates its rows as objects."""
        call = e.this if isinstance(e, exp.Filter) else e
        if not isinstance(call, exp.Anonymous) or str(call.this).lower() not in json_values.AGGREGATES or not call.expressions:
            return e
        arg = call.expressions[0].this if isinstance(call.expressions[0], exp.Order) else call.expressions[0]
        if self.whole_row(arg, c):
            e = e.copy()
            call = e.this if isinstance(e, exp.Filter) else e
            arg = call.expressions[0].this if isinstance(call.expressions[0], exp.Order) else call.expressions[0]
            arg.replace(exp.Anonymous(this="to_jsonb" if str(call.this).lower() == "jsonb_agg" else "to_json", expressions=[arg.copy()]))
        return e

    def window(self, e: Any, c: Clause) -> Scalar:
        if c.windows is None:
            raise InvalidSql(f"window functions are not allowed in {c.name}", code="windowing_error")
        inner = Clause(c.scope, "a window's definition", aggs=c.aggs, grouping=c.grouping)
        partition, spec = aggregates.bind_window(
            e, c.named_windows, lambda x: self.bind(x, inner), lambda x: self.condition(x, inner))
        key = (partition, spec)
        if key not in c.windows:
            c.windows[key] = Col(self.binder.fresh(spec.fn), spec.type)
        return c.windows[key]
