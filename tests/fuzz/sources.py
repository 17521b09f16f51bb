"""Random FROM clauses: tables, derived tables, joins of every kind, LATERAL and set-returning functions."""

from __future__ import annotations

from tests.fuzz.expressions import Col, Expressions, Query, Scope
from tests.fuzz.schema import literal
from tests.fuzz.templates import ORDERED


class Sources(Expressions):
    """Makes what a SELECT reads."""

    def query(self, depth: int) -> Query:
        """A query of any shape, at most `depth` levels deep."""
        raise NotImplementedError

    def select(self, depth: int, types: list[str] | None = None, head: str = "SELECT ") -> Query:
        """A SELECT of columns of these types."""
        raise NotImplementedError

    def source(self, depth: int, outer: list[Col] | None = None) -> Scope:
        """A base table, a derived table, a CTE, VALUES or a set-returning function."""
        a = self.name()
        if self.shared and self.chance(0.4):
            name, q = self.rng.choice(self.shared)
            return self.derived(name, a, q)
        if depth > 0 and self.chance(0.45):
            q = self.query(depth - 1)
            return self.derived(f"({q.sql})", a, q)
        if self.chance(0.05):
            self.mark("values")
            rows = ", ".join(f"({literal(self.rng, 'int')}, {literal(self.rng, 'text')})" for _ in range(3))
            return self.derived(f"(VALUES {rows})", f"{a}(k0, k1)", Query("", ["int", "text"]))
        if self.chance(0.03):
            self.mark("generate_series")
            return Scope(
                f"generate_series(1, {self.rng.randint(2, 5)}) AS {a}(k0)", [Col(f"{a}.k0", "int")], [f"{a}.k0"]
            )
        t = self.rng.choice(self.tables)
        cols = [Col(f"{a}.{c.name}", c.type) for c in t.columns]
        order = [f"{a}.{k}" for k in t.key] or self.total(cols)
        return Scope(f"{t.name} {a}", cols, order)

    def derived(self, sql: str, alias: str, q: Query) -> Scope:
        cols = [Col(f"{alias.split('(')[0]}.k{i}", t) for i, t in enumerate(q.types)]
        return Scope(f"{sql} AS {alias}", cols, self.total(cols))

    def total(self, cols: list[Col]) -> list[str] | None:
        return [c.ref for c in cols] if all(c.type in ORDERED for c in cols) else None

    def scope(self, depth: int, joins: int = 3) -> Scope:
        """FROM with up to `joins` - 1 joins of any kind."""
        s = self.source(depth)
        if joins > 2 and self.chance(0.08):
            return self.comma(s, self.join(self.source(depth - 1), depth))
        if joins > 1 and self.chance(0.04):
            return self.using(depth)
        for _ in range(self.rng.choice((0, 0, 1, 1, 2)[: joins + 1])):
            s = self.join(s, depth)
        if (lists := [c for c in s.cols if c.type in ("ints", "json")]) and self.chance(0.5):
            s = self.unnest(s, self.rng.choice(lists))
        if depth > 0 and self.chance(0.07):
            s = self.lateral(s, depth)
        return s

    def join(self, s: Scope, depth: int) -> Scope:
        other = self.source(depth - 1)
        cols, order = (
            s.cols + other.cols,
            s.order + other.order if s.order is not None and other.order is not None else None,
        )
        pairs = [
            (x.ref, y.ref) for x in s.cols for y in other.cols if x.type == y.type == "int" or x.type == y.type == "big"
        ]
        pairs = pairs or [(x.ref, y.ref) for x in s.cols for y in other.cols if x.type == y.type and x.type in ORDERED]
        if not pairs or self.chance(0.03):
            self.mark("cross join")
            return Scope(f"{s.sql} CROSS JOIN {other.sql}", cols, order, s.where)
        join = self.rng.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ","))
        self.mark("comma join" if join == "," else join)
        x, y = self.rng.choice(pairs)
        if join == ",":
            return Scope(f"{s.sql} CROSS JOIN {other.sql}", cols, order, [*s.where, f"{x} = {y}"])
        op = "=" if join == "FULL JOIN" or self.chance(0.93) else self.rng.choice(("<", "<>", "IS NOT DISTINCT FROM"))
        if op != "=":
            self.mark("theta join")
        more = f" AND {self.pred(cols, 0)}" if self.chance(0.25) else ""
        return Scope(f"{s.sql} {join} {other.sql} ON {x} {op} {y}{more}", cols, order, s.where)

    def comma(self, s: Scope, other: Scope) -> Scope:
        """An item, a comma, and joins of their own: these do not see the item."""
        self.mark("comma before a join")
        order = s.order + other.order if s.order is not None and other.order is not None else None
        cols = s.cols + other.cols
        pairs = [
            (x.ref, y.ref) for x in s.cols for y in other.cols if x.type == y.type and x.type in ("int", "big", "text")
        ]
        tied = [f"{x} = {y}" for x, y in [self.rng.choice(pairs)]] if pairs else []
        return Scope(f"{s.sql}, {other.sql}", cols, order, [*s.where, *other.where, *tied])

    def using(self, depth: int) -> Scope:
        """Two derived tables joined USING their first columns, shown by *."""
        kinds = ["int", self.rng.choice(ORDERED), self.rng.choice(ORDERED)]
        left, right = self.select(depth - 1, kinds), self.select(depth - 1, kinds[:2])
        kind = self.rng.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN"))
        self.mark(f"{kind} using")
        names = ["k0", *(f"a{i}" for i in range(1, len(left.types))), *(f"b{i}" for i in range(1, len(right.types)))]
        types = [left.types[0], *left.types[1:], *right.types[1:]]
        mine, theirs = (
            ", ".join(["k0", *(f"{p}{i}" for i in range(1, len(q.types)))]) for p, q in (("a", left), ("b", right))
        )
        a = self.name("j")
        body = f"SELECT * FROM ({left.sql}) AS x({mine}) {kind} ({right.sql}) AS y({theirs}) USING (k0)"
        cols = [Col(f"{a}.{n}", t) for n, t in zip(names, types, strict=True)]
        return Scope(f"({body}) AS {a}", cols, self.total(cols))

    def unnest(self, s: Scope, c: Col) -> Scope:
        a = self.name("u")
        call = f"unnest({c.ref})" if c.type == "ints" else f"jsonb_array_elements_text({c.ref} -> 'b')"
        self.mark("unnest")
        kind = self.rng.choice(("CROSS JOIN LATERAL {}", "LEFT JOIN LATERAL {} ON true"))
        item = Col(f"{a}.k0", "int" if c.type == "ints" else "text")
        return Scope(
            s.sql + " " + kind.format(f"{call} AS {a}(k0)"), [*s.cols, item], s.order and [*s.order, item.ref], s.where
        )

    def lateral(self, s: Scope, depth: int) -> Scope:
        """LATERAL (… ORDER BY … LIMIT k), or a LATERAL aggregate."""
        self.mark("lateral limit")
        inner, a = self.source(0), self.name("x")
        link = self.link(inner.cols, s.cols)
        if link is None or inner.order is None:
            return s
        t = self.rng.choice(ORDERED)
        item = self.value(inner.cols, t)
        kind = self.rng.choice(("CROSS JOIN LATERAL ({}) AS {}", "LEFT JOIN LATERAL ({}) AS {} ON true"))
        q = (
            f"SELECT {item} AS k0 FROM {inner.sql} WHERE {link} ORDER BY {self.by(inner)} LIMIT "
            f"{self.rng.randint(1, 3)}"
        )
        more = [Col(f"{a}.k0", t)]
        return Scope(s.sql + " " + kind.format(q, a), s.cols + more, s.order and [*s.order, f"{a}.k0"], s.where)

    def link(self, inner: list[Col], outer: list[Col]) -> str | None:
        """A condition that correlates."""
        pairs = [(x.ref, y.ref) for x in inner for y in outer if x.type == y.type and x.type in ("int", "big", "text")]
        if not pairs:
            return None
        x, y = self.rng.choice(pairs)
        return f"{x} {'=' if self.chance(0.88) else self.rng.choice(('<', '>=', '<>'))} {y}"

    def by(self, s: Scope) -> str:
        """A total ORDER BY, led by a column of choice."""
        lead = [c.ref for c in s.cols if c.type in ORDERED]
        first = (
            [f"{self.rng.choice(lead)}{self.rng.choice(('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'))}"]
            if lead
            else []
        )
        return ", ".join(first + (s.order or []))
