"""Which keys of partial views a query asks for: found in its text, as a query that gives them.

A view's key is asked for by conditions that all must hold where the view is read: `=`, `IN`, or OR of these, with
constants or a subquery of its own; or equal to a column of something else that is joined there, a list of values, a
table function, another view. More keys than are needed do no harm; where it cannot be told which are needed, the
query is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from compiler.errors import InvalidSql
from compiler.maintain.asked import Asked

OUTER = {"LEFT": "right", "RIGHT": "left", "FULL": "neither"}  # kind of join → the side whose rows its ON chooses


@dataclass(frozen=True)
class Wanted:
    """A reading of a partial view: `query` gives the keys that it asks for, in the columns c0…"""

    view: str
    query: str


def wanted(sql: str, asked: Mapping[str, Asked], columns: Mapping[str, list[str]]) -> list[Wanted]:
    """Of each reading of the views `asked` (by name in lower case), the keys. `columns`: those of all views. Raises
    InvalidSql where a reading asks for no key."""
    try:
        tree = qualify(
            sqlglot.parse_one(sql, read="duckdb"),
            dialect="duckdb",
            schema={v: dict.fromkeys(c, "UNKNOWN") for v, c in columns.items()},
            validate_qualify_columns=False,
            quote_identifiers=False,
        )
    except SqlglotError as e:
        raise _refused(min(asked), "The query could not be read that far.") from e
    named = {c.alias.lower() for c in tree.find_all(exp.CTE)}
    out = []
    for t in list(tree.find_all(exp.Table)):
        name = t.name.lower()
        if name not in asked:
            continue
        if name in named or t.args.get("db"):
            raise _refused(name, "It is named with a schema, or a part of the query has its name.")
        select = t.find_ancestor(exp.Select)
        if select is None or not any(t is x for x in _sources(select)):
            raise _refused(name, "It is read in a way that says no key.")
        out.append(_Reading(asked[name], t, select).wanted())
    return out


def _refused(view: str, detail: str) -> InvalidSql:
    return InvalidSql(
        f'view "{view}" is partial: a query has to ask for keys',
        detail=detail,
        hint="Add a condition on its key (=, IN, or a join with a list); or compute it for every key: tidemark query "
        "--all",
        code="partial_needs_key",
    )


def _sources(s: exp.Select) -> list[exp.Expr]:
    source = s.args.get("from_") or s.args.get("from")
    return ([source.this] if source is not None else []) + [j.this for j in s.args.get("joins") or []]


@dataclass(frozen=True)
class _Reading:
    asked: Asked
    table: exp.Table
    select: exp.Select

    @property
    def alias(self) -> str:
        return str(self.table.alias_or_name)

    def wanted(self) -> Wanted:
        conditions = list(self.conditions())
        chosen: list[exp.Query] = []
        joint: dict[str, list[tuple[int, exp.Expr]]] = {}  # another source → places of the key that it gives
        for i, c in enumerate(self.asked.columns):
            found = [x for x in (self.values(c.name, cond) for cond in conditions) if x is not None]
            constant = next((x for x in found if isinstance(x, exp.Query)), None)
            if constant is not None:
                chosen.append(self._one(constant, i))
            elif found:
                source, e = found[0]
                joint.setdefault(source, []).append((i, e))
            else:
                raise _refused(self.asked.view, f'No condition on "{c.name}" tells which.')
        chosen += [self._of(source, places, conditions) for source, places in joint.items()]
        query = exp.Select(
            expressions=[exp.column(f"c{i}") for i in range(len(self.asked.columns))], distinct=exp.Distinct()
        ).from_(chosen[0].subquery("s0"))
        for n, q in enumerate(chosen[1:], 1):
            query = query.join(q.subquery(f"s{n}"), join_type="cross")
        for w in reversed([a.args["with_"] for a in self._around() if a.args.get("with_")]):
            query = _with(query, w)
        return Wanted(self.asked.view, query.sql("duckdb"))

    def _around(self) -> Iterator[exp.Expr]:
        """Queries that it stands in, the outermost last."""
        n: exp.Expr | None = self.select
        while n is not None:
            if isinstance(n, exp.Query):
                yield n
            n = n.parent

    # -- conditions

    def conditions(self) -> Iterator[exp.Expr]:
        """What must hold of each row of the view that matters here."""
        where = self.select.args.get("where")
        if where is not None:
            yield from where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
        for j in self.select.args.get("joins") or []:
            on = j.args.get("on")
            if on is None:
                continue
            here = j.this is self.table
            kind = (j.args.get("kind") or "").upper()
            side = OUTER.get((j.args.get("side") or "").upper(), "both" if kind != "ANTI" else "right")
            if side == "both" or (side == "right" and here) or (side == "left" and self._before(j)):
                yield from on.flatten() if isinstance(on, exp.And) else [on]

    def _before(self, j: exp.Join) -> bool:
        """Whether the view is the only thing on the left of a join."""
        return _sources(self.select)[0] is self.table and (self.select.args.get("joins") or [None])[0] is j

    def values(self, column: str, c: exp.Expr) -> exp.Query | tuple[str, exp.Expr] | None:
        """What a condition says of a column: a query of one column, or another source here and an expression of it."""
        c = c.unnest()
        if isinstance(c, exp.Or):
            parts = [self.values(column, x) for x in c.flatten()]
            return _together([p if isinstance(p, exp.Query) else None for p in parts])
        if isinstance(c, exp.In) and self._is(c.this, column):
            if (q := c.args.get("query")) is not None:
                return self._own(q.unnest() if isinstance(q, exp.Subquery) else q)
            if (u := c.args.get("unnest")) is not None:
                return self._constant(u)
            each = [self._constant(e) for e in c.expressions]
            return _together(each)
        if isinstance(c, exp.EQ | exp.NullSafeEQ):
            for a, b in ((c.this, c.expression), (c.expression, c.this)):
                if self._is(a, column):
                    return self._equal(b)
        return None

    def _is(self, e: exp.Expr | None, column: str) -> bool:
        e = e.unnest() if e is not None else None
        return isinstance(e, exp.Column) and e.table == self.alias and e.name.lower() == column.lower()

    def _equal(self, e: exp.Expr) -> exp.Query | tuple[str, exp.Expr] | None:
        if isinstance(e, exp.Any):
            inner = e.this.unnest()
            if isinstance(inner, exp.Query):
                return self._own(inner)
            return self._constant(exp.Explode(this=inner.copy()))
        if (q := self._constant(e)) is not None:
            return q
        others = {c.table for c in _columns(e)}
        if len(others) != 1 or e.find(exp.Query) is not None:
            return None
        (other,) = others
        names = [x.alias_or_name for x in _sources(self.select)]
        return (other, e) if other != self.alias and names.count(other) == 1 else None

    def _constant(self, e: exp.Expr) -> exp.Query | None:
        """An expression that reads nothing of the query around it."""
        inside = [q for q in e.find_all(exp.Query)]
        if any(self._own(q) is None for q in inside):
            return None
        free = [c for c in _columns(e) if not any(c in set(q.find_all(exp.Column)) for q in inside)]
        return exp.Select(expressions=[exp.alias_(e.copy(), "c")]) if not free else None

    def _own(self, q: exp.Expr) -> exp.Query | None:
        """A subquery, where it reads nothing of the query around it."""
        if not isinstance(q, exp.Query):
            return None
        sources = {x.alias_or_name for s in q.find_all(exp.Select) for x in _sources(s)}
        if any(c.table not in sources for c in _columns(q)) or len(q.named_selects) != 1:
            return None
        (name,) = q.named_selects
        return exp.Select(expressions=[exp.alias_(exp.column(name), "c")]).from_(q.copy().subquery("o"))

    # -- the keys

    @staticmethod
    def _one(q: exp.Query, place: int) -> exp.Query:
        return exp.Select(expressions=[exp.alias_(exp.column("c"), f"c{place}")]).from_(q.subquery("o"))

    def _of(self, source: str, places: list[tuple[int, exp.Expr]], conditions: list[exp.Expr]) -> exp.Query:
        """The values that another source has, of its rows that its own conditions leave."""
        node = next(x for x in _sources(self.select) if x.alias_or_name == source)
        if any(c.table in {x.alias_or_name for x in _sources(self.select)} for c in _columns(node)) and not isinstance(
            node, exp.Subquery
        ):
            raise _refused(self.asked.view, f'Its keys come from "{source}", which depends on what is beside it.')
        q = exp.Select(expressions=[exp.alias_(e.copy(), f"c{i}") for i, e in places]).from_(node.copy())
        for c in conditions:
            if c.find(exp.Query) is None and {x.table for x in _columns(c)} == {source}:
                q = q.where(c.copy())
        return q


def _together(each: list[exp.Query | None]) -> exp.Query | None:
    """The values of all, where all are known."""
    some = [q for q in each if q is not None]
    if not some or len(some) < len(each):
        return None
    return reduce(lambda a, b: exp.union(a, b, distinct=True), some)


def _columns(e: exp.Expr) -> list[exp.Column]:
    return [c for c in e.find_all(exp.Column) if not isinstance(c.this, exp.Star)]


def _with(query: exp.Select, w: exp.With) -> exp.Select:
    """The query under further CTEs, which stand before its own."""
    own = query.args.get("with_")
    every = [*(c.copy() for c in w.expressions), *(own.expressions if own is not None else [])]
    recursive = bool(w.args.get("recursive")) or bool(own is not None and own.args.get("recursive"))
    query.set("with_", exp.With(expressions=every, recursive=recursive))
    return query
