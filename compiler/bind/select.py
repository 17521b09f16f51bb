"""One SELECT block: FROM, WHERE, GROUP BY, HAVING, windows, DISTINCT, ORDER BY, LIMIT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from compiler import opaque
from compiler.bind import range_order, whole_rows
from compiler.bind.aggregates import listed
from compiler.bind.clause import Clause
from compiler.bind.coerce import normal
from compiler.bind.from_clause import bind_from
from compiler.bind.grouping import Grouping, column_name
from compiler.bind.names import QueryBinder, schema_of
from compiler.bind.operators import ordinal
from compiler.bind.ordering import cut, limits, order_by
from compiler.bind.range_parts import is_range
from compiler.bind.scope import Bound, Env, Scope
from compiler.bind.sets import ONE_ROW
from compiler.catalog import identifier
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.functions.aggregates import AGGREGATES
from compiler.ir import types
from compiler.ir.relation import Aggregate, Filter, Order, Project, Relation, TopK, Window, WindowCall
from compiler.ir.scalar import Call, Col, Scalar, cast, columns, transform
from compiler.ir.types import INT8, TEXT


def bind_select(binder: QueryBinder, e: exp.Select, env: Env, parent: Scope | None) -> Bound:
    return _Select(binder, e, env, parent).bind()


class _Select(Grouping):
    def bind(self) -> Bound:
        """The whole SELECT: FROM, WHERE, groups, windows, set-returning functions, DISTINCT, ORDER BY and LIMIT, in the
        order in which Postgres applies them. Raises TidemarkError for what it refuses, or we do."""
        e = self.e
        for unknown in ("connect", "match", "laterals", "qualify", "into", "locks", "sample"):
            if e.args.get(unknown):
                raise UnsupportedSql(f"{unknown.upper()} is not supported in a view", code="unsupported_syntax")
        rel = bind_from(self.binder, self.expressions, e, self.env, self.scope)
        if (where := e.args.get("where")) is not None:
            rel = Filter(rel, self.expressions.condition(where.this, Clause(self.scope, "WHERE")))
        if e.args.get("group") is not None or e.find(exp.Distinct) is not None:
            self.subqueries = []
        named = {str(w.this.name).lower(): w for w in e.args.get("windows") or []}
        clause = Clause(self.scope, "SELECT", self.aggs, self.windows, named, self.grouping, self.srfs)
        items = self.select_items(clause)
        outputs = [(n, Col(f"\0{i}", s.type)) for i, (n, s) in enumerate(items)]
        order = [
            replace(o, expr=_label_of(o.expr))
            for o in order_by(e.args.get("order"), outputs, lambda x: self.expressions.bind(x, clause), whole=True)
        ]
        on = self.distinct_on(clause, outputs)
        for o in order if on else ():
            if o.expr.type.name in opaque.UNORDERED and not is_range(o.expr.type):
                opaque.refuse(o.expr.type, "ORDER BY")
        having = e.args.get("having")
        keep = (
            self.expressions.condition(having.this, Clause(self.scope, "HAVING", self.aggs, None, named, self.grouping))
            if having is not None
            else None
        )
        exprs = [s for _, s in items]
        orders = [o.expr for o in order]
        every = [*exprs, *orders, *on, *([keep] if keep is not None else [])]
        every = [self.averages_as_quotients(x) for x in every]
        group = e.args.get("group")
        if group is not None or self.aggs or self.grouping_calls or keep is not None:
            rel, every = self.aggregate(rel, group, items, every)
        elif not order and not on and not self.windows and not self.srfs and e.args.get("distinct") is None:
            order = [replace(o, expr=_label_of(o.expr)) for o in self.scope.order]
            every[len(exprs) :] = [o.expr for o in order]
        n = len(exprs)
        exprs, orders = every[:n], every[n : n + len(order)]
        on = every[n + len(order) : n + len(order) + len(on)]
        if keep is not None:
            rel = Filter(rel, every[-1])
        rel, every = self.window(rel, [*exprs, *orders, *on])
        srfs = self.srfs
        place = self.binder.fresh("ordinal") if rel is ONE_ROW and srfs and not order and listed(e) else None
        rel = self.expand(rel, srfs, place)
        exprs, orders, on = every[:n], every[n : n + len(order)], every[n + len(order) :]
        picked = [
            exprs[int(x.name[1:])] if isinstance(x, Col) and x.name.startswith("\0") else x for x in (*orders, *on)
        ]
        if on and srfs and not {c.name for _, c in srfs} & columns(*picked):
            raise UnsupportedSql(
                "DISTINCT ON beside a set-returning function that it is not ordered by is not supported",
                code="unsupported_syntax",
                detail="Postgres picks the rows before it calls the function.",
                hint="Pick the rows in a subquery, and call the function in the query around it.",
            )
        by = [Order(x, o.desc, o.nulls_first) for x, o in zip(orders, order, strict=True)]
        return self.finish(rel, items, exprs, by + ([Order(Col(place, INT8), False, False)] if place else []), on)

    def averages_as_quotients(self, x: Scalar) -> Scalar:
        """The text of an average is that of the sum over the count, whose digits tell how many Postgres shows."""
        averages = {
            col: agg for agg, col in self.aggs.items() if agg.fn == "avg" and types.has_fixed_scale(agg.args[0].type)
        }
        over = {
            col: key
            for key, col in self.windows.items()
            if key[1].fn == "avg" and types.has_fixed_scale(key[1].args[0].type)
        }

        def parts(col: Scalar) -> list[Col]:
            out = []
            (x,) = (averages[col] if col in averages else over[col][1]).args  # type: ignore[index]
            for fn in ("sum", "count"):
                t = AGGREGATES[fn].result(x.type)
                new = Col(self.binder.fresh(fn), t)
                if col in averages:
                    out.append(self.aggs.setdefault(replace(averages[col], fn=fn, type=t), new))
                else:
                    partition, call = over[col]  # type: ignore[index]
                    out.append(self.windows.setdefault((partition, replace(call, fn=fn, type=t)), new))
            return out

        def as_quotient(n: Scalar) -> Scalar | None:
            if (
                isinstance(n, Call)
                and n.fn == "cast"
                and types.is_string(n.type)
                and (n.args[0] in averages or n.args[0] in over)
            ):
                return cast(Call("average_text", tuple(parts(n.args[0])), TEXT), n.type)
            return None

        return transform(x, as_quotient) if averages or over else x

    # -- SELECT list

    def select_items(self, clause: Clause) -> list[tuple[str, Scalar]]:
        out: list[tuple[str, Scalar]] = []
        for item in self.e.expressions:
            if isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star)):
                out += self.star(item)
                continue
            if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
                out += whole_rows.every_field(self.expressions, item, clause)
                continue
            name = _output_name(item)
            body = item.this if isinstance(item, exp.Alias) else item
            got = self.expressions.bind(body, clause)
            out.append((name, cast(got, TEXT) if got.type.name == "unknown" else got))
        return out

    def star(self, item: exp.Expr) -> list[tuple[str, Scalar]]:
        """The items of * or t.*. Raises InvalidSql where there is nothing to show, UnsupportedSql where a column of it
        is generated."""
        table = item.args.get("table") if isinstance(item, exp.Column) else None
        alias = None if table is None else (table.this if table.args.get("quoted") else table.this.lower())
        found = self.scope.find(alias, schema_of(item)) if alias is not None else None
        for s in self.scope.sources if alias is None else [found[0]] if found is not None else []:
            if (unsaid := s.unsaid) is not None:
                raise UnsupportedSql(
                    f'* of "{s.alias}" holds the generated column "{unsaid}", whose expression is not supported',
                    code="generated_column",
                    detail="Postgres does not replicate it.",
                    hint="Name the columns.",
                )
        if alias is None and not self.scope.sources:
            raise InvalidSql("SELECT * with no tables specified is not valid", code="undefined_table")
        if alias is not None and found is None:
            raise InvalidSql(f'missing FROM-clause entry for table "{alias}"', code="undefined_table")
        return list(self.scope.shown) if found is None else found[1]

    def distinct_on(self, clause: Clause, outputs: list[tuple[str, Col]]) -> list[Scalar]:
        d = self.e.args.get("distinct")
        if d is None or d.args.get("on") is None:
            return []
        on = d.args["on"]
        parts = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
        holder = exp.Order(expressions=[exp.Ordered(this=p) for p in parts])
        return [_label_of(o.expr) for o in order_by(holder, outputs, lambda x: self.expressions.bind(x, clause), True)]

    # -- windows and the tail

    def window(self, rel: Relation, every: list[Scalar]) -> tuple[Relation, list[Scalar]]:
        """One Window node for each PARTITION BY; subqueries in their arguments are computed first."""
        by_partition: dict[tuple[Scalar, ...], list[tuple[str, WindowCall]]] = {}
        sets = {c.name for _, c in self.srfs}
        for (partition, call), col in self.windows.items():
            if columns(*partition, *call.scalars) & sets:
                raise InvalidSql(
                    "window function calls cannot contain set-returning function calls", code="feature_not_supported"
                )
            by_partition.setdefault(partition, []).append((col.name, call))
        for partition, calls in by_partition.items():
            rel = Window(rel, partition, tuple(calls))
        return rel, every

    def finish(
        self, rel: Relation, items: list[tuple[str, Scalar]], exprs: list[Scalar], order: list[Order], on: list[Scalar]
    ) -> Bound:
        """What stands above the rows: output columns, DISTINCT, ORDER BY and LIMIT. What is only sorted by is
        hidden."""
        e = self.e
        bounds = limits(e, lambda x: self.expressions.bind(x, Clause(Scope(parent=self.scope.parent), "LIMIT")))
        outputs = [(n, Col(self.binder.fresh(n), x.type)) for (n, _), x in zip(items, exprs, strict=True)]
        visible = tuple((c.name, x) for (_, c), x in zip(outputs, exprs, strict=True))
        by_expr: dict[Scalar, Scalar] = {Col(f"\0{i}", c.type): c for i, (_, c) in enumerate(outputs)}
        for (_, c), x in zip(outputs, exprs, strict=True):
            by_expr.setdefault(x, c)
        hidden: list[tuple[str, Scalar]] = []

        def place(x: Scalar) -> Scalar:
            if x in by_expr:
                return by_expr[x]
            c = Col(self.binder.fresh("sort"), x.type)
            hidden.append((c.name, x))
            by_expr[x] = c
            return c

        wanted = bounds[:2] != (None, 0) or on
        sort = tuple(Order(k, o.desc, o.nulls_first) for o in order for k in range_order.keys(ordinal(place(o.expr))))
        partition = tuple(place(normal(x)) for x in on)
        if e.args.get("distinct") is not None and hidden and not on:
            raise InvalidSql(
                "for SELECT DISTINCT, ORDER BY expressions must appear in select list", code="invalid_column_reference"
            )
        full: Relation = Project(rel, visible + tuple(hidden))
        if e.args.get("distinct") is not None and not on:
            full = Aggregate(full, tuple((c.name, normal(c)) for c in full.schema), ())
        if on:
            full = TopK(
                full,
                partition,
                tuple(o for o in sort if not columns(o.expr) <= {p.name for p in partition if isinstance(p, Col)}),
                1,
            )
        full = cut(full, sort, bounds, self.binder.fresh)
        alone = (
            full
            if not hidden
            else Project(full, tuple((c.name, c) for _, c in outputs))
            if wanted
            else Project(rel, visible)
        )
        return Bound(alone, outputs, (full, sort) if sort else None)


def _label_of(x: Scalar) -> Scalar:
    """An enum's place in an order back to the value, until it is known which column that is."""
    return x.args[0] if isinstance(x, Call) and x.fn in ("enum_ordinal", "enum_ordinals") else x


def _strong_name(item: exp.Expr | None) -> str:
    """The name that a CASE takes from its ELSE: of no type alone, and of no constant; nothing where it has none."""
    while isinstance(item, exp.Cast | exp.Paren):
        item = item.this
    name = _output_name(item) if item is not None else ""
    return "" if name in ("?column?", "bool", "interval") else name


def _output_name(item: exp.Expr) -> str:
    """The name Postgres gives a SELECT item."""
    if isinstance(item, exp.Alias):
        i = item.args["alias"]
        return str(i.this if i.args.get("quoted") else i.this.lower())
    if isinstance(item, exp.Column):
        return column_name(item)
    if isinstance(item, (exp.Filter, exp.WithinGroup, exp.Window, exp.Paren)):
        return _output_name(item.this)
    if isinstance(item, exp.Cast):
        inner = _output_name(item.this)
        return inner if inner != "?column?" else item.args["to"].sql("postgres").lower().split("(")[0]
    if isinstance(item, exp.Anonymous):
        return str(item.this).lower()
    if isinstance(item, exp.Case):
        return _strong_name(item.args.get("default")) or "case"
    if isinstance(item, exp.Collate):
        return _output_name(item.this)
    if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Select) and len(item.this.expressions) == 1:
        return _output_name(item.this.expressions[0])
    names = {
        exp.Exists: "exists",
        exp.Extract: "extract",
        exp.Substring: "substring",
        exp.Trim: "btrim",
        exp.StrPosition: "position",
        exp.Overlay: "overlay",
        exp.AtTimeZone: "timezone",
        exp.Array: "array",
        exp.Interval: "interval",
        exp.Grouping: "grouping",
        exp.Boolean: "bool",
        exp.Unnest: "unnest",
    }
    if isinstance(item, exp.Bracket):
        return _output_name(item.this)
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Identifier):
        return identifier(item.expression)
    return names.get(type(item), "?column?")
