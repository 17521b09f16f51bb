"""GROUP BY: keys, grouping sets, and columns that a grouped key determines."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from compiler.bind.clause import Clause
from compiler.bind.coerce import normal
from compiler.bind.expressions import Expressions
from compiler.bind.names import QueryBinder
from compiler.bind.scope import Env, Scope
from compiler.bind.sets import SetFunction, lockstep
from compiler.errors import InvalidSql, UnsupportedSql
from compiler.functions.aggregates import CORES
from compiler.ir.outers import free, map_scalars
from compiler.ir.relation import Agg, Aggregate, Order, Project, Relation, Union, Unnest, WindowCall
from compiler.ir.scalar import Col, Lit, Outer, Scalar, cast, columns, transform
from compiler.ir.subquery import Sub
from compiler.ir.types import INT4, TEXT


class Grouping:
    """Groups within one SELECT."""

    def __init__(self, binder: QueryBinder, e: exp.Select, env: Env, parent: Scope | None) -> None:
        self.binder, self.e, self.env = binder, e, env
        self.expressions = Expressions(binder, self.subquery)
        self.scope = Scope(parent=parent)
        self.aggs: dict[Agg, Col] = {}
        self.windows: dict[tuple[tuple[Scalar, ...], WindowCall], Col] = {}
        self.srfs: list[tuple[SetFunction, Col]] = []
        self.grouping_calls: dict[Col, list[Scalar]] = {}
        self.by_item: dict[Scalar, set[int]] = {}  # keys that are SELECT items, by their places
        self.subqueries: list[tuple[exp.Expr, Relation]] | None = None

    def subquery(self, q: exp.Expr, scope: Scope) -> Relation:
        """A subquery's relation; where expressions of this SELECT are told apart, one that is written twice is bound
        once."""
        if self.subqueries is None:
            return self.binder.subquery(q, self.env, scope)
        written, aggs = normalize_identifiers(q.copy(), dialect="postgres"), len(self.aggs)
        for earlier, rel in self.subqueries:
            if earlier == written:
                return rel
        rel = self.binder.subquery(q, self.env, scope)
        if len(self.aggs) == aggs:
            self.subqueries.append((written, rel))
        return rel

    def grouping(self, args: list[Scalar]) -> Scalar:
        for col, earlier in self.grouping_calls.items():
            if earlier == args:
                return col
        col = Col(self.binder.fresh("grouping"), INT4)
        self.grouping_calls[col] = args
        return col

    def aggregate(
        self, rel: Relation, group: exp.Group | None, items: list[tuple[str, Scalar]], every: list[Scalar]
    ) -> tuple[Relation, list[Scalar]]:
        """GROUP BY over FROM and WHERE's rows, and every expression that is read above it, in terms of its columns.
        Raises InvalidSql for a column that is neither grouped nor aggregated."""
        sets = self.grouping_sets(group, items) if group is not None else [[]]
        keys: list[Scalar] = []
        for s in sets:
            keys += [k for k in s if k not in keys]
        plain = len(sets) == 1 and not self.grouping_calls
        if not plain and any(len(places) > 1 for places in self.by_item.values()):
            raise UnsupportedSql(
                "grouping sets over two SELECT items that are the same expression are not supported",
                code="unsupported_syntax",
                detail="Postgres keeps them apart.",
                hint="Group by one of them.",
            )
        every = [_resolve(x, items) for x in every]
        if not plain and any(
            k in _walk(x) for k in keys if any(isinstance(n, Sub) for n in _walk(k)) for x in every if x not in keys
        ):
            raise UnsupportedSql(
                "a grouping set's subquery within another expression is not supported",
                code="unsupported_subquery",
                detail="Postgres gives its value where the set leaves it out, from some row (version 18: NULL).",
                hint="Compute it in a subquery in FROM, and group by its column.",
            )
        if plain:
            keys += [k for k in self.dependent(keys, every) if k not in keys]
        rel = self.expand(rel, [(f, c) for f, c in self.srfs if any(c.name in columns(k) for k in keys)])
        names = {k: self.binder.fresh(k.name if isinstance(k, Col) else _label(items, k)) for k in keys}
        aggs = tuple((c.name, a) for a, c in self.aggs.items())
        if plain:
            out: Relation = Aggregate(rel, tuple((names[k], normal(k)) for k in keys), aggs)
        else:
            out = self.union_of_sets(rel, sets, keys, names, aggs)
        mapping: dict[Scalar, Scalar] = {k: Col(n, k.type) for k, n in names.items()}
        visible = set(out.names)

        def swap(x: Scalar) -> Scalar | None:
            if x in mapping:
                return mapping[x]
            if isinstance(x, Sub):
                inner = replace(x, query=_swap_outer(x.query, mapping))
                return inner.rebuild(tuple(transform(a, swap) for a in x.children))
            return None

        done = [transform(x, swap) for x in every]
        self.srfs = [(replace(f, args=tuple(transform(a, swap) for a in f.args)), c) for f, c in self.srfs]
        windows, self.windows = self.windows, {}
        for (partition, call), col in windows.items():
            call = replace(
                call,
                args=tuple(transform(a, swap) for a in call.args),
                order=tuple(Order(transform(o.expr, swap), o.desc, o.nulls_first) for o in call.order),
                filter=transform(call.filter, swap) if call.filter is not None else None,
            )
            self.windows[(tuple(transform(p, swap) for p in partition), call)] = col
            visible.add(col.name)
        direct = [transform(x, swap) for a in self.aggs if CORES[a.fn].within for x in a.args]
        for x in [*done, *direct, *(s for (p, c), _ in self.windows.items() for s in (*p, *c.scalars))]:
            if missing := columns(x) - visible - {c.name for _, c in self.srfs}:
                raise InvalidSql(
                    f'column "{sorted(missing)[0]}" must appear in the GROUP BY clause or be used in an '
                    "aggregate function",
                    code="grouping_error",
                )
        return out, done

    def expand(self, rel: Relation, srfs: list[tuple[SetFunction, Col]], ordinal: str | None = None) -> Relation:
        """Set-returning functions of the SELECT list, in step with each other: their rows, after windows, or before
        GROUP BY."""
        if not srfs:
            return rel
        self.srfs = [x for x in self.srfs if x not in srfs]
        functions, cols = [f for f, _ in srfs], [c for _, c in srfs]
        f = functions[0] if len(functions) == 1 else lockstep(functions)
        if f.make is None:
            return Unnest(rel, f.fn, f.args, tuple(cols), ordinal)
        raws = [Col(self.binder.fresh(n), t) for n, t in f.raw]
        unnested = Unnest(rel, f.fn, f.args, tuple(raws), ordinal)
        kept = [(c.name, c) for c in unnested.schema if c not in raws]
        return Project(unnested, (*kept, *zip((c.name for c in cols), f.make(raws), strict=True)))

    def dependent(self, keys: list[Scalar], every: list[Scalar]) -> list[Scalar]:
        """Columns that a grouped primary key determines."""
        read = [
            *every,
            *(x for p, c in self.windows for x in (*p, *c.scalars)),
            *(x for f, _ in self.srfs for x in f.args),
        ]
        used = columns(*read).union(*map(_outer_names, read))
        out: list[Scalar] = []
        for s in self.scope.sources:
            if s.table is None or not s.table.key:
                continue
            by_name = dict(s.columns)
            if all(by_name[k] in keys for k in s.table.key):
                out += [c for _, c in s.columns if c not in keys and c.name in used]
        return out

    def grouping_sets(self, group: exp.Group, items: list[tuple[str, Scalar]]) -> list[list[Scalar]]:
        """The grouping sets of GROUP BY, as lists of keys; a plain GROUP BY is one set."""
        factors: list[list[list[Scalar]]] = []
        for x in group.expressions:
            factors.append(self.element(x, items))
        for kind in ("rollup", "cube", "grouping_sets"):
            for x in group.args.get(kind) or []:
                factors.append(self.element(x, items))
        out: list[list[Scalar]] = []
        for combo in product(*factors):
            keys = list(dict.fromkeys(k for part in combo for k in part))
            if group.args.get("all") is not False or set(keys) not in map(set, out):  # GROUP BY DISTINCT
                out.append(keys)
        return out

    def element(self, x: exp.Expr, items: list[tuple[str, Scalar]]) -> list[list[Scalar]]:
        if isinstance(x, exp.Rollup):
            parts = [self.columns_of(p, items) for p in x.expressions]
            return [[k for p in parts[:i] for k in p] for i in range(len(parts), -1, -1)]
        if isinstance(x, exp.Cube):
            parts = [self.columns_of(p, items) for p in x.expressions]
            return [
                [k for p, use in zip(parts, picks, strict=True) if use for k in p]
                for picks in product((True, False), repeat=len(parts))
            ]
        if isinstance(x, exp.GroupingSets):
            return [s for p in x.expressions for s in self.element(p, items)]
        return [self.columns_of(x, items)]

    def columns_of(self, x: exp.Expr | None, items: list[tuple[str, Scalar]]) -> list[Scalar]:
        while isinstance(x, exp.Paren):
            x = x.this
        if x is None:  # ()
            return []
        if isinstance(x, exp.Tuple):
            return [k for p in x.expressions for k in self.columns_of(p, items)]
        return [self.key(x.unnest(), items)]

    def key(self, x: exp.Expr, items: list[tuple[str, Scalar]]) -> Scalar:
        """A key: a number is a SELECT item, a bare name a column of FROM before an item's alias."""
        if isinstance(x, exp.Literal) and not x.is_string and x.this.isdigit():
            i = int(x.this)
            if not 1 <= i <= len(items):
                raise InvalidSql(f"GROUP BY position {i} is not in select list", code="invalid_column_reference")
            got = items[i - 1][1]
            self.by_item.setdefault(got, set()).add(i - 1)
        elif (
            isinstance(x, exp.Column)
            and x.args.get("table") is None
            and not isinstance(x.this, exp.Star)
            and self.scope.local(None, column_name(x)) is None
            and column_name(x) in dict(items)
        ):
            i = next(i for i, (n, _) in enumerate(items) if n == column_name(x))
            got = items[i][1]
            self.by_item.setdefault(got, set()).add(i)
        else:
            got = self.expressions.bind(x, Clause(self.scope, "GROUP BY"))
        if any(isinstance(n, Col) and n in self.aggs.values() for n in _walk(got)):
            raise InvalidSql("aggregate functions are not allowed in GROUP BY", code="grouping_error")
        return cast(got, TEXT) if got.type.name == "unknown" else got

    def union_of_sets(
        self,
        rel: Relation,
        sets: list[list[Scalar]],
        keys: list[Scalar],
        names: dict[Scalar, str],
        aggs: tuple[tuple[str, Agg], ...],
    ) -> Relation:
        """Grouping sets as one aggregation each: keys that a set leaves out are NULL, GROUPING's bits constants. Raises
        InvalidSql for GROUPING of what no set groups by."""
        parts: list[Relation] = []
        for s in sets:
            one = Aggregate(rel, tuple((names[k], normal(k)) for k in s), aggs)
            exprs: list[tuple[str, Scalar]] = [
                (names[k], Col(names[k], k.type) if k in s else Lit(None, k.type)) for k in keys
            ]
            exprs += [(n, Col(n, a.type)) for n, a in aggs]
            for col, args in self.grouping_calls.items():
                bits = 0
                for a in args:
                    if a not in keys:
                        raise InvalidSql(
                            "arguments to GROUPING must be grouping expressions of the associated query level",
                            code="grouping_error",
                        )
                    bits = bits * 2 + (a not in s)
                exprs.append((col.name, Lit(bits, INT4)))
            parts.append(Project(one, tuple(exprs)))
        return parts[0] if len(parts) == 1 else Union(tuple(parts))


def column_name(x: exp.Column) -> str:
    if isinstance(x.this, exp.Star):
        return "?column?"
    return str(x.this.this if x.this.args.get("quoted") else x.this.this.lower())


def _label(items: list[tuple[str, Scalar]], k: Scalar) -> str:
    return next((n for n, s in items if s == k), "key")


def _walk(x: Scalar):  # type: ignore[no-untyped-def]
    from compiler.ir.scalar import walk

    return walk(x)


def _resolve(x: Scalar, items: list[tuple[str, Scalar]]) -> Scalar:
    """Replace references to SELECT items by their expressions, so that keys are found within them."""
    if isinstance(x, Col) and x.name.startswith("\0"):
        return items[int(x.name[1:])][1]
    return x


def _outer_names(x: Scalar) -> set[str]:
    """Names that subqueries within an expression read of the query around them."""
    return {o.name for n in _walk(x) if isinstance(n, Sub) for o in free(n.query)}


def _swap_outer(q: Relation, mapping: dict[Scalar, Scalar]) -> Relation:
    """Within a subquery of an aggregated query, columns of the outer query become its group keys."""

    def swap(n: Scalar) -> Scalar | None:
        if isinstance(n, Outer):
            got = mapping.get(Col(n.name, n.type))
            return Outer(got.name, got.type) if isinstance(got, Col) else None
        return None

    return map_scalars(q, lambda s: transform(s, swap))
