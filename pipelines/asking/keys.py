"""Which keys of partial views a query asks for: found in its text, as a query that gives them.

A view's key is asked for by conditions that all must hold where the view is read: `=` or `IN`, or OR of these, with
constants or a subquery of its own; or equal to a column of something else that is joined there, a list of values, a
table function, another view. All of these are false of a NULL, so that they also discard what an outer join would add
in the place of rows that are not kept.

More keys than are needed do no harm: other conditions may be left out. Where it cannot be told which are needed, the
query is refused. Keys that come from another partial view are told once that one's own are: never in a circle, where
each would wait for the other, and both be empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from sqlglot import exp

from compiler.errors import InvalidSql
from compiler.maintain.asked import Asked
from pipelines.asking.parsed import parsed
from pipelines.asking.read_only import remembered

OUTER = {"LEFT": "right", "RIGHT": "left", "FULL": "neither"}  # kind of join → the side whose rows its ON chooses
ONE_BY_ONE = {"", "NATURAL"}  # methods of joins that find rows by their condition alone: ASOF and POSITIONAL do not
QUANTIFIERS = {"ALL", "ANY", "SOME"}  # before a list sqlglot takes them for functions
TOGETHER = "together"  # of a UNION, what it is of
READING = "reading"  # of which table in the query a table is a copy
STRICT = (exp.Paren, exp.Cast, exp.TryCast, exp.Neg, exp.Add, exp.Sub, exp.Mul)  # NULL where what they read is


@dataclass(frozen=True)
class Wanted:
    """A reading of a partial view: `query` gives the keys that it asks for, in the columns c0…; `parts`, by the place
    of a column, the queries that it puts together, whose types may differ."""

    view: str
    query: str
    parts: tuple[tuple[int, str], ...] = ()


def wanted(sql: str, asked: Mapping[str, Asked], columns: Mapping[str, list[str]]) -> Sequence[Wanted]:
    """Of each reading of the views `asked` (by name in lower case), the keys. `columns`: those of all views. Raises
    InvalidSql where a reading asks for no key."""
    known = tuple(sorted(asked.items())), tuple((n, tuple(c)) for n, c in columns.items())
    return _wanted(sql, *known)  # who asks by keys asks for some of them again and again


@remembered
def _wanted(
    sql: str, of: tuple[tuple[str, Asked], ...], views: tuple[tuple[str, tuple[str, ...]], ...]
) -> Sequence[Wanted]:
    asked, columns = dict(of), {n: list(c) for n, c in views}
    tree = parsed(sql, columns)
    if tree is None:
        raise refused(min(asked), "The query has a form of which the keys are not found.")
    if tree.find(exp.Collate) is not None:
        raise refused(min(asked), "It compares by a collation.")
    ctes = [c for c in tree.find_all(exp.CTE)]
    named = {c.alias.lower(): c for c in ctes}
    read = [t for t in tree.find_all(exp.Table) if t.name.lower() in asked]
    for t in read:
        if t.name.lower() in named or len(named) < len(ctes):
            raise refused(t.name.lower(), "Parts of the query have the same name, or the view's.")
    return _in_order([_reading(t, asked, named) for t in read])


def _in_order(readings: list[_Reading]) -> list[Wanted]:
    """The keys of readings, those first from which others take theirs."""
    seen: set[int] = set()
    out, left = [], list(readings)
    while left:
        usable = [(r, w) for r in left if (w := r.wanted(seen)) is not None]
        if not usable:
            raise refused(left[0].asked.view, left[0].lacking())
        out += [w for _, w in usable]
        seen |= {id(r.table) for r, _ in usable}
        left = [r for r in left if id(r.table) not in seen]
    return out


def _reading(t: exp.Table, asked: Mapping[str, Asked], ctes: Mapping[str, exp.CTE]) -> _Reading:
    view, alias = t.name.lower(), t.args.get("alias")
    select = t.find_ancestor(exp.Select)
    if {k for k, v in t.args.items() if v} - {"this", "alias"} or (alias is not None and alias.args.get("columns")):
        raise refused(view, "It is read under other columns, or with a schema, a sample or a pivot.")
    if select is None or not any(t is x for x in _sources(select)):
        raise refused(view, "It is read in a way that says no key.")
    methods = {(j.args.get("method") or "").upper() for j in select.args.get("joins") or []}
    if methods - ONE_BY_ONE or select.args.get("laterals"):
        raise refused(view, "What it is joined with is chosen by more than a condition.")
    return _Reading(asked[view], t, select, frozenset(asked), ctes)


def refused(view: str, detail: str) -> InvalidSql:
    return InvalidSql(
        f'view "{view}" is partial: a query has to ask for keys',
        detail=detail,
        hint="Add a condition on its key (=, IN, or a join with a list); or compute it for every key: tidemark query "
        "--all",
        code="partial_needs_key",
    )


def _sources(s: exp.Select) -> list[exp.Expr]:
    source = s.args.get("from_")
    return ([source.this] if source is not None else []) + [j.this for j in s.args.get("joins") or []]


@dataclass(frozen=True)
class _Source:
    """A column of the key is an expression of another source of the same SELECT."""

    name: str
    value: exp.Expr


@dataclass(frozen=True)
class _Reading:
    asked: Asked
    table: exp.Table
    select: exp.Select
    views: frozenset[str]  # the partial ones
    ctes: Mapping[str, exp.CTE]

    @property
    def alias(self) -> str:
        return str(self.table.alias_or_name)

    # -- the keys

    def wanted(self, seen: set[int]) -> Wanted | None:
        """The keys, where those of the readings `seen` are known (by the ids of their tables: expressions of the same
        text are equal); None where it has to wait for another."""
        constants: list[exp.Query] = []
        parts: list[tuple[int, exp.Select]] = []
        joint: dict[str, list[tuple[int, exp.Expr]]] = {}  # another source → places of the key that it gives
        for i, c in enumerate(self.asked.columns):
            ready = [x for x in self.found(c.name) if self.reads(self.node(x)) <= seen]
            constant = next((x for x in ready if isinstance(x, exp.Query)), None)
            if constant is not None:
                constants.append(_column(constant, "c", f"c{i}"))
                parts += [(i, _column(p, "c", "c")) for p in constant.meta.get(TOGETHER, ())]
            elif ready and isinstance(ready[0], _Source):
                joint.setdefault(ready[0].name, []).append((i, ready[0].value))
            else:
                return None
        chosen = constants + [self.listed(source, places) for source, places in joint.items()]
        query = exp.Select(
            expressions=[exp.column(f"c{i}") for i in range(len(self.asked.columns))], distinct=exp.Distinct()
        ).from_(chosen[0].subquery("s0"))
        for n, q in enumerate(chosen[1:], 1):
            query = query.join(q.subquery(f"s{n}"), join_type="cross")
        around = [a.args["with_"] for a in self._around() if a.args.get("with_")][::-1]

        def text(q: exp.Select) -> str:
            return reduce(_with, around, q).sql("duckdb")

        return Wanted(self.asked.view, text(query), tuple((i, text(p)) for i, p in parts))

    def lacking(self) -> str:
        """Why its keys are not known."""
        for c in self.asked.columns:
            if not self.found(c.name):
                return f'No condition on "{c.name}" tells which.'
        return "Its keys come from a partial view whose own are not known without it."

    def found(self, column: str) -> Sequence[exp.Query | _Source]:
        """What conditions say of a column of the key."""
        return [x for x in (self.values(column, c) for c in self.conditions) if x is not None]

    def node(self, x: exp.Query | _Source) -> exp.Expr:
        """What is read to get its values."""
        return next(s for s in _sources(self.select) if s.alias_or_name == x.name) if isinstance(x, _Source) else x

    def reads(self, n: exp.Expr, seen: frozenset[str] = frozenset()) -> set[int]:
        """The readings of partial views that are in a part of the query."""
        out: set[int] = set()
        for t in n.find_all(exp.Table):
            name = t.name.lower()
            if name in self.views:
                out.add(t.meta.get(READING, id(t)))
            elif name in self.ctes and name not in seen:
                out |= self.reads(self.ctes[name], seen | {name})
        return out

    def listed(self, source: str, places: list[tuple[int, exp.Expr]]) -> exp.Query:
        """The values that another source has, of its rows that its own conditions leave."""
        node = self.node(_Source(source, places[0][1]))
        q = exp.Select(expressions=[exp.alias_(e.copy(), f"c{i}") for i, e in places]).from_(node.copy())
        for c in self.conditions:
            if c.find(exp.Query) is None and {x.table for x in _columns(c)} == {source}:
                q = q.where(c.copy())
        return q

    def _around(self) -> Iterator[exp.Expr]:
        """Queries that it stands in, the outermost last."""
        n: exp.Expr | None = self.select
        while n is not None:
            if isinstance(n, exp.Query):
                yield n
            n = n.parent

    # -- conditions

    @cached_property
    def conditions(self) -> list[exp.Expr]:
        """What must hold of each row of the view that matters here."""
        where = self.select.args.get("where")
        out = list(_conjuncts(where.this)) if where is not None else []
        for j in self.select.args.get("joins") or []:
            on = j.args.get("on")
            here = j.this is self.table
            kind = (j.args.get("kind") or "").upper()
            side = OUTER.get((j.args.get("side") or "").upper(), "both" if kind != "ANTI" else "right")
            if on is not None and (
                side == "both" or (side == "right" and here) or (side == "left" and self._is_all_before(j))
            ):
                out += _conjuncts(on)
        return out

    def _is_all_before(self, j: exp.Join) -> bool:
        """Whether the view is the only thing on the left of a join."""
        return _sources(self.select)[0] is self.table and (self.select.args.get("joins") or [None])[0] is j

    def values(self, column: str, c: exp.Expr) -> exp.Query | _Source | None:
        """What a condition says of a column: a query with the column c, or another source here."""
        c = c.unnest()
        if isinstance(c, exp.Or):
            return _together([self.values(column, x) for x in c.flatten()])
        if isinstance(c, exp.And):
            return next((v for v in (self.values(column, x) for x in _conjuncts(c)) if isinstance(v, exp.Query)), None)
        if isinstance(c, exp.In) and self._is(c.this, column):
            if (q := c.args.get("query")) is not None:
                return self._own(q.unnest() if isinstance(q, exp.Subquery) else q)
            if c.args.get("unnest") is not None or c.args.get("field") is not None:
                return None
            return _together([self._constant(e) for e in c.expressions])
        if type(c) is exp.EQ or type(c) is exp.NullSafeEQ:
            for a, b in ((c.this, c.expression), (c.expression, c.this)):
                if self._is(a, column):
                    return self._equal(b) if type(c) is exp.EQ else self._constant(b) if _is_literal(b) else None
        return None

    def _is(self, e: exp.Expr | None, column: str) -> bool:
        e = e.unnest() if e is not None else None
        return isinstance(e, exp.Column) and e.table == self.alias and e.name.lower() == column.lower()

    def _equal(self, e: exp.Expr) -> exp.Query | _Source | None:
        if isinstance(e, exp.All) or (isinstance(e, exp.Anonymous) and e.name.upper() in QUANTIFIERS):
            return None
        if isinstance(e, exp.Any):
            inner = e.this.unnest()
            if isinstance(inner, exp.Query):
                return self._own(inner) if isinstance(inner, exp.Select) else None
            return self._constant(exp.Explode(this=inner.copy()))
        if (q := self._constant(e)) is not None:
            return q
        others = {c.table for c in _columns(e)}
        if len(others) != 1 or not _is_strict(e):
            return None
        (other,) = others
        names = [x.alias_or_name for x in _sources(self.select)]
        return _Source(other, e) if other != self.alias and names.count(other) == 1 else None

    def _constant(self, e: exp.Expr) -> exp.Query | None:
        """An expression that reads nothing of the query around it."""
        inside = list(e.find_all(exp.Query))
        if any(self._own(q) is None for q in inside):
            return None
        own = {id(x) for q in inside for x in q.walk()}
        free = [c for c in e.find_all(exp.Column, exp.Star, exp.Columns) if id(c) not in own]
        return exp.Select(expressions=[exp.alias_(_marked(e), "c")]) if not free else None

    def _own(self, q: exp.Expr) -> exp.Query | None:
        """A subquery of one column, where it reads nothing of the query around it."""
        if not isinstance(q, exp.Query) or len(q.named_selects) != 1 or q.named_selects[0] in ("", "*"):
            return None
        sources = {x.alias_or_name for s in q.find_all(exp.Select) for x in _sources(s)}
        if any(c.table not in sources for c in _columns(q)):
            return None
        return _column(_marked(q), q.named_selects[0], "c")


def _conjuncts(e: exp.Expr) -> Iterator[exp.Expr]:
    e = e.unnest()
    if isinstance(e, exp.And):
        yield from _conjuncts(e.this)
        yield from _conjuncts(e.expression)
    else:
        yield e


def _marked(e: exp.Expr) -> exp.Expr:
    """A copy, whose tables tell which they are copies of."""
    new = e.copy()
    for old, copy in zip(e.find_all(exp.Table), new.find_all(exp.Table), strict=True):
        copy.meta[READING] = old.meta.get(READING, id(old))
    return new


def _column(q: exp.Expr, name: str, alias: str) -> exp.Select:
    assert isinstance(q, exp.Query)
    return exp.Select(expressions=[exp.alias_(exp.column(name), alias)]).from_(q.subquery("o"))


def _together(each: Sequence[exp.Query | _Source | None]) -> exp.Query | None:
    """The values of all, where all are known by themselves."""
    some = [q for q in each if isinstance(q, exp.Query)]
    if not some or len(some) < len(each):
        return None
    some = _listed(some)
    out = reduce(lambda a, b: exp.union(a, b, distinct=True), some)
    if len(some) > 1:
        out.meta[TOGETHER] = [p for q in some for p in q.meta.get(TOGETHER, [q])]
    return out


def _listed(each: list[exp.Query]) -> list[exp.Query]:
    """With literals of one kind as one query: a list may have thousands."""
    lists: dict[str, list[exp.Expr]] = {}
    rest = []
    for q in each:
        value = q.selects[0].unalias().unnest() if isinstance(q, exp.Select) and not q.args.get("from_") else None
        kind = _kind_of(value)
        if value is not None and kind:
            lists.setdefault(kind, []).append(value)
        else:
            rest.append(q)
    rows = [[exp.Tuple(expressions=[v]) for v in values] for values in lists.values()]
    return [
        exp.Select(expressions=[exp.column("c")]).from_(exp.values(x, alias="v", columns=["c"])) for x in rows
    ] + rest


def _kind_of(e: exp.Expr | None) -> str:
    if isinstance(e, exp.Cast):
        inner = _kind_of(e.this)
        return inner and f"{inner} as {e.to.sql('duckdb')}"
    negative = isinstance(e, exp.Neg)
    e = e.this if isinstance(e, exp.Neg) else e
    if not isinstance(e, exp.Literal):
        return ""
    return "number" if not e.is_string and e.name.isdigit() else "text" if e.is_string and not negative else ""


def _is_literal(e: exp.Expr) -> bool:
    e = e.unnest()
    return isinstance(e, exp.Literal) or (isinstance(e, exp.Neg | exp.Cast) and _is_literal(e.this))


def _is_strict(e: exp.Expr) -> bool:
    """Whether it is NULL where a column that it reads is: so is it of a row that an outer join adds."""
    if isinstance(e, exp.Column):
        return not isinstance(e.this, exp.Star)
    if isinstance(e, STRICT):
        return all(_is_strict(x) or _is_literal(x) for x in (e.this, e.expression) if isinstance(x, exp.Expr))
    return False


def _columns(e: exp.Expr) -> list[exp.Column]:
    return [c for c in e.find_all(exp.Column) if not isinstance(c.this, exp.Star)]


def _with(query: exp.Select, w: exp.With) -> exp.Select:
    """The query under further CTEs, which stand before its own."""
    own = query.args.get("with_")
    every = [*(c.copy() for c in w.expressions), *(own.expressions if own is not None else [])]
    recursive = bool(w.args.get("recursive")) or bool(own is not None and own.args.get("recursive"))
    query.set("with_", exp.With(expressions=every, recursive=recursive))
    return query
