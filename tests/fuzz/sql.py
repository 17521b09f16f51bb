"""Random SQL views over a random schema, with the features each one uses. What needs an order gets a total one."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.fuzz.expressions import Col, Query, Scope
from tests.fuzz.sources import Sources
from tests.fuzz.templates import KINDS, ORDERED, SETS


class Views(Sources):
    """A source of random views."""

    def view(self, depth: int = 3) -> Query:
        """A view; `used` then names its features."""
        self.used, self.names, self.shared = set(), 0, []
        return self.query(depth)

    def query(self, depth: int) -> Query:
        """A query of any shape, at most `depth` levels deep."""
        simple: list[Callable[[int], Query]] = [self.select, self.select, self.aggregate, self.aggregate]
        deep = [
            self.select,
            self.aggregate,
            self.aggregate,
            self.sets,
            self.sets,
            self.window,
            self.window,
            self.ranked,
            self.grouping,
            self.distinct_on,
            self.limited,
            self.with_twice,
            self.recursive,
            self.distinct,
            self.sets_of_rows,
        ]
        return self.rng.choice(deep if depth > 0 else simple)(depth)

    def done(self, items: list[Col], rest: str, head: str = "SELECT ") -> Query:
        return Query(
            head + ", ".join(f"{c.ref} AS k{i}" for i, c in enumerate(items)) + " FROM " + rest, [c.type for c in items]
        )

    def items(self, s: Scope, depth: int, types: list[str] | None = None) -> list[Col]:
        own = not types
        types = types or [
            self.rng.choice([c.type for c in s.cols] if self.chance(0.7) else KINDS)
            for _ in range(self.rng.randint(1, 4))
        ]
        lists = [c.ref for c in s.cols if c.type == "ints"]
        made = [Col(self.value(s.cols, t, 2, depth), t) for t in types]
        if own and lists and self.chance(0.3):
            self.mark("array of a set")
            made.append(Col(f"ARRAY(SELECT u + 1 FROM unnest({self.rng.choice(lists)}) u WHERE u > 0)", "arr"))
        return made

    def select(self, depth: int, types: list[str] | None = None, head: str = "SELECT ") -> Query:
        s = self.scope(depth)
        return self.done(self.items(s, depth, types), s.sql + self.where(s, depth), head)

    def distinct(self, depth: int) -> Query:
        self.mark("distinct")
        return self.select(depth, self.rng.sample(["int", "text", "num", "bool", "date"], 2), "SELECT DISTINCT ")

    def aggregate(self, depth: int) -> Query:
        """GROUP BY with HAVING, or one group of everything."""
        s = self.scope(depth)
        able = [c for c in s.cols if c.type in ORDERED] or [Col("1 + 1", "int")]
        groups = self.rng.sample(able, min(len(able), self.rng.choice((0, 1, 1, 2))))
        if groups and self.chance(0.2):
            groups[0] = Col(self.value(s.cols, groups[0].type, 2), groups[0].type)
            groups = [g for g in groups if any(c.ref in g.ref for c in s.cols)]
        calls = self.calls(s)
        self.mark("group by" if groups else "global aggregate")
        if "agg" in " ".join(self.used) and "(SELECT" in s.sql:
            self.mark("aggregate over subquery")
        rest = s.sql + self.where(s, depth)
        rest += f" GROUP BY {', '.join(g.ref for g in groups)}" if groups else ""
        if self.chance(0.25):
            self.mark("having")
            rest += f" HAVING {self.pred([*groups, *calls], 0, 1)}"
        elif depth > 0 and groups and self.chance(0.1) and (p := self.subquery_pred(groups, 1)):
            self.mark("having subquery")
            rest += f" HAVING {p}"
        if self.chance(0.15):
            calls.append(Col(self.value([*groups, *calls], t := self.rng.choice(("int", "num", "text", "big")), 1), t))
        return self.done([*groups, *calls], rest)

    def grouping(self, depth: int) -> Query:
        s = self.scope(depth)
        able = [c for c in s.cols if c.type in ORDERED]
        groups = self.rng.sample(able, min(len(able), 2))
        form = self.rng.choice(
            ("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({0}), ({1}), ())", "GROUPING SETS (({0}), ({0}, {1}))")
        )
        self.mark(form.split(" (")[0])
        refs = [g.ref for g in groups]
        by = (
            form.format(*refs)
            if "{0}" in form and len(refs) > 1
            else "ROLLUP ({})".format(", ".join(refs))
            if "{0}" in form
            else form.format(", ".join(refs))
        )
        extra = [Col(f"grouping({', '.join(refs)})", "int")] if self.chance(0.5) else []
        having = f" HAVING {self.pred(groups, 0, 1)}" if self.chance(0.15) else ""
        return self.done([*groups, *self.calls(s), *extra], f"{s.sql}{self.where(s, depth)} GROUP BY {by}{having}")

    def sets(self, depth: int) -> Query:
        kinds = self.rng.sample(["int", "text", "num", "bool", "date", "big", "ts"], self.rng.randint(1, 3))
        op = self.rng.choice(SETS)
        self.mark(op)
        sql = f"{self.select(depth - 1, kinds).sql} {op} {self.select(depth - 1, kinds).sql}"
        if self.chance(0.2):
            sql = f"({sql}) {self.rng.choice(SETS)} {self.select(depth - 1, kinds).sql}"
        return Query(sql, kinds)

    def window(self, depth: int) -> Query:
        s = self.scope(depth - 1)
        calls = [w for _ in range(self.rng.randint(1, 4)) if (w := self.window_call(s))]
        by_place = [w for w in calls if re.search(r"ROWS|row_number|ntile|lag|lead|_value", w.ref)]
        calls = [w for w in calls if w not in by_place[1:]]  # of equal rows, two may number them differently
        return self.done([*self.items(s, 0), *calls], s.sql + self.where(s, depth))

    def sets_of_rows(self, depth: int) -> Query:
        """A set-returning function in the SELECT list, beside a window."""
        s = self.scope(depth - 1, 1)
        lists = [c for c in s.cols if c.type == "ints"]
        if not s.order:
            return self.select(depth)
        self.mark("set in select")
        item = Col(f"unnest({lists[0].ref})" if lists else f"generate_series(1, {self.rng.randint(1, 3)})", "int")
        calls = [w for w in [self.window_call(s)] if w]
        return self.done([*self.items(s, 0), *calls, item], s.sql + self.where(s, 0))

    def ranked(self, depth: int) -> Query:
        s = self.scope(depth - 1)
        if not s.order:
            return self.select(depth)
        self.mark("row_number <= k")
        part = self.rng.choice([c.ref for c in s.cols if c.type in ORDERED])
        fn = self.rng.choice(("row_number", "row_number", "rank", "dense_rank"))
        inner = self.done(
            [*self.items(s, 0), Col(f"{fn}() OVER (PARTITION BY {part} ORDER BY {self.by(s)})", "big")],
            s.sql + self.where(s, 0),
        )
        keep = [Col(f"q.k{i}", t) for i, t in enumerate(inner.types)]
        return self.done(
            keep[:-1], f"({inner.sql}) AS q WHERE {keep[-1].ref} {self.rng.choice(('<= 2', '= 1', '< 3', '<= 1'))}"
        )

    def distinct_on(self, depth: int) -> Query:
        s = self.scope(depth - 1)
        if not s.order:
            return self.select(depth)
        self.mark("distinct on")
        key = self.rng.choice([c for c in s.cols if c.type in ORDERED])
        return self.done(
            [key, *self.items(s, 0)],
            f"{s.sql}{self.where(s, 0)} ORDER BY {key.ref}, {self.by(s)}",
            f"SELECT DISTINCT ON ({key.ref}) ",
        )

    def limited(self, depth: int) -> Query:
        q = self.query(depth - 1)
        s = self.derived(f"({q.sql})", self.name(), q)
        if not s.order:
            return self.select(depth)
        self.mark("limit")
        offset = f" OFFSET {self.rng.randint(1, 3)}" if self.chance(0.3) else ""
        return self.done(s.cols, f"{s.sql} ORDER BY {self.by(s)} LIMIT {self.rng.randint(1, 6)}{offset}", "SELECT ")

    def with_twice(self, depth: int) -> Query:
        """A CTE that several places may read."""
        if self.shared:
            return self.select(depth)
        self.mark("cte")
        name, q = self.name("w"), self.query(depth - 1)
        self.shared.append((name, q))
        body = self.query(depth - 1)
        self.shared.pop()
        return Query(
            f"WITH {name} AS ({q.sql}) {body.sql}" if not body.sql.startswith("WITH") else body.sql, body.types
        )

    def recursive(self, depth: int) -> Query:
        """A walk over the table that refers to itself, a closure, or a series; and a query over it."""
        if self.shared:
            return self.select(depth)
        self.mark("recursive")
        name, n = self.name("w"), self.rng.randint(2, 5)
        walk = "SELECT id, id, 0 FROM s3 WHERE up IS NULL "
        walk += f"UNION ALL SELECT e.id, c.k1, c.k2 + 1 FROM s3 e JOIN {name} c ON e.up = c.k0 WHERE c.k2 < 6"
        closure = (
            f"SELECT id, up FROM s3 WHERE up IS NOT NULL UNION SELECT c.k0, e.up FROM {name} c JOIN s3 e ON e.id = c.k1"
        )
        series = f"SELECT 1 UNION ALL SELECT k0 + 1 FROM {name} WHERE k0 < {n}"
        body, types = self.rng.choice(((walk, ["int"] * 3), (closure, ["int"] * 2), (series, ["int"])))
        q = Query(body, types)
        self.shared.append((name, q))
        rest = self.query(depth - 1)
        self.shared.pop()
        head = ", ".join(f"k{i}" for i in range(len(types)))
        return Query(
            f"WITH RECURSIVE {name}({head}) AS ({body}) {rest.sql}" if not rest.sql.startswith("WITH") else rest.sql,
            rest.types,
        )
