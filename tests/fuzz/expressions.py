"""Random expressions, conditions, subqueries, aggregates and window calls over the columns of a FROM."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.fuzz.schema import Table, literal
from tests.fuzz.templates import AGGS, BY_TIME, FRAMES, KINDS, ORDERED, SCALARS, WINDOWS, lines


@dataclass(frozen=True)
class Col:
    """A column in reach: how it is referred to, and its type."""

    ref: str
    type: str


@dataclass
class Query:
    """A SELECT without its closing semicolon, and the types of its columns k0, k1, …"""

    sql: str
    types: list[str]


@dataclass
class Scope:
    """What a FROM offers; `order` identifies a row up to equal rows, or is None where nothing can."""

    sql: str
    cols: list[Col]
    order: list[str] | None
    where: list[str] = field(default_factory=list)


@dataclass
class Expressions:
    """What is common to all that is made at random for one view."""

    rng: random.Random
    tables: list[Table]
    used: set[str] = field(default_factory=set)
    names: int = 0
    shared: list[tuple[str, Query]] = field(default_factory=list)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def mark(self, feature: str) -> None:
        self.used.add(feature.lower())

    def name(self, prefix: str = "t") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def scope(self, depth: int, joins: int = 3) -> Scope:
        """FROM with up to `joins` - 1 joins of any kind."""
        raise NotImplementedError

    # scalars
    def value(self, cols: list[Col], type: str, depth: int = 1, sub: int = 0) -> str:
        """An expression of the type."""
        mine = [c.ref for c in cols if c.type == type]
        if mine and (depth <= 0 or self.chance(0.6)):
            return self.rng.choice(mine)
        if sub > 0 and self.chance(0.12) and (s := self.scalar_subquery(cols, type, sub)):
            return s
        if sub > 0 and self.chance(0.05) and (s := self.guarded_subquery(cols, type)):
            return s
        fitting = [x for t, x in lines(SCALARS) if t == type]
        if depth > 0 and fitting and self.chance(0.7):
            return "(" + self.fill(self.rng.choice(fitting), cols, depth - 1, sub) + ")"
        if type == "numx":
            type = "num"
        plain = type if type in (*ORDERED, "ints", "json") else "int"
        return self.rng.choice(mine) if mine and self.chance(0.7) else literal(self.rng, plain)

    def fill(self, template: str, cols: list[Col], depth: int, sub: int) -> str:
        out = ""
        while "{" in template:
            head, rest = template.split("{", 1)
            type, template = rest.split("}", 1)
            out += head + (self.pred(cols, sub, depth) if type == "bool" else self.value(cols, type, depth, sub))
        return out + template

    def pred(self, cols: list[Col], sub: int, depth: int = 2) -> str:
        """A condition; up to `sub` levels of subqueries below it."""
        if depth > 0 and self.chance(0.3):
            a, b = self.pred(cols, sub, depth - 1), self.pred(cols, sub, depth - 1)
            form = self.rng.choice(
                (
                    "({} AND {})",
                    "({} OR {})",
                    "({} OR {})",
                    "(NOT ({}) AND {})",
                    "CASE WHEN {} THEN {} ELSE false END",
                    "(({}) IS NOT TRUE OR {})",
                    "(NOT ({}) OR {})",
                )
            )
            self.mark("case condition" if "CASE" in form else "or" if "OR" in form else "and")
            return form.format(a, b)
        if sub > 0 and self.chance(0.45) and (p := self.subquery_pred(cols, sub)):
            return p
        flat = [c for c in cols if c.type in ORDERED]
        if not flat:
            return "true"
        c = self.rng.choice(flat)
        v = literal(self.rng, c.type)
        same = [x.ref for x in flat if x.type == c.type and x != c] or [v]
        choices = [
            f"{c.ref} {self.rng.choice(('=', '<>', '<', '>', '<=', '>='))} {v}",
            f"{c.ref} IS NULL",
            f"{c.ref} IS NOT NULL",
            f"{c.ref} IN ({v}, {literal(self.rng, c.type)})",
            f"{c.ref} NOT IN ({v}, {literal(self.rng, c.type)})",
            f"{c.ref} BETWEEN {v} AND {literal(self.rng, c.type)}",
            f"{c.ref} > {self.rng.choice(same)}",
            f"{c.ref} IS DISTINCT FROM {self.rng.choice(same)}",
            f"{c.ref} = {self.rng.choice(same)}",
        ]
        choices += [f"{c.ref}", f"NOT {c.ref}", f"{c.ref} IS NOT TRUE"] if c.type == "bool" else []
        choices += [f"{c.ref} LIKE '%a%'", f"{c.ref} NOT LIKE '_'", f"{c.ref} ILIKE 'A%'"] if c.type == "text" else []
        return self.rng.choice(choices)

    def subquery_pred(self, cols: list[Col], sub: int) -> str | None:
        inner = self.scope(sub - 1, 1)
        link = self.link(inner.cols, cols) if self.chance(0.65) else None
        where = self.where(inner, sub - 1, link)
        form = self.rng.choice(
            ("EXISTS", "NOT EXISTS", "IN", "NOT IN", "= ANY", "<> ALL", ">= ALL", "< ANY", "scalar", "scalar")
        )
        self.mark(form + (" correlated" if link else ""))
        if form.endswith("EXISTS"):
            return f"{form} (SELECT 1 FROM {inner.sql}{where})"
        usable = [c for c in cols if c.type in KINDS]
        if not usable:
            return None
        c = self.rng.choice(usable)
        if form == "scalar":
            s = self.scalar_subquery(cols, c.type, sub)
            return f"{c.ref} {self.rng.choice(('=', '<', '>=', '<>'))} {s}" if s else None
        if self.chance(0.2) and len(usable) > 1 and form in ("IN", "NOT IN"):
            d = self.rng.choice(usable)
            self.mark("row in")
            return (
                f"({c.ref}, {d.ref}) {form} (SELECT {self.value(inner.cols, c.type)}, {self.value(inner.cols, d.type)} "
                f"FROM {inner.sql}{where})"
            )
        return f"{c.ref} {form} (SELECT {self.value(inner.cols, c.type)} FROM {inner.sql}{where})"

    def scalar_subquery(self, cols: list[Col], type: str, sub: int) -> str | None:
        inner = self.scope(sub - 1, 1)
        link = self.link(inner.cols, cols) if self.chance(0.65) else None
        where = self.where(inner, sub - 1, link)
        if type in ORDERED and inner.order and self.chance(0.2):
            self.mark("scalar subquery with limit")
            return f"(SELECT {self.value(inner.cols, type)} FROM {inner.sql}{where} ORDER BY {self.by(inner)} LIMIT 1)"
        made = [a for _ in range(6) if (a := self.aggregate_call(inner)) and a.type == type]
        if not made:
            return None
        self.mark("scalar subquery" + (" correlated" if link else ""))
        having = f" HAVING count(*) > {self.rng.randint(0, 2)}" if self.chance(0.1) else ""
        return f"(SELECT {made[0].ref} FROM {inner.sql}{where}{having})"

    def guarded_subquery(self, cols: list[Col], type: str) -> str | None:
        """A scalar subquery that is asked only where it has one row."""
        inner = self.scope(0, 0)
        link = self.link(inner.cols, cols)
        mine = [c.ref for c in inner.cols if c.type == type]
        if link is None or not mine:
            return None
        self.mark("guarded subquery")
        rest = f"FROM {inner.sql} WHERE {' AND '.join([*inner.where, link])}"
        return f"CASE WHEN (SELECT count(*) {rest}) = 1 THEN (SELECT {self.rng.choice(mine)} {rest}) END"

    def where(self, s: Scope, sub: int, link: str | None = None, p: float = 0.6) -> str:
        parts = s.where + ([link] if link else []) + ([self.pred(s.cols, sub)] if self.chance(p) else [])
        return " WHERE " + " AND ".join(parts) if parts else ""

    # aggregates and windows
    def aggregate_call(self, s: Scope, filters: bool = True) -> Col | None:
        """An aggregate over the scope."""
        result, call = self.rng.choice(lines(AGGS))
        call, arg = call.rsplit(" ", 1)
        usable = [c for c in s.cols if (c.type in ORDERED if arg in "o*" else c.type == arg)]
        if "@" in call and not s.order or "{}" in call and not usable:
            return None
        first = self.rng.choice(usable) if usable else Col("", "int")
        if call.startswith(("min", "max")) and first.type == "bool":
            return None
        plain = call.count("{}") == 1 and self.chance(0.3) and "@" not in call and first.type in KINDS
        x = self.value(s.cols, first.type, 1) if plain else first.ref
        second = x if "ORDER BY {}" in call else self.rng.choice(usable).ref if usable else ""
        call = call.replace("{}", x, 1).replace("{}", second).replace("@", self.by(s) if "@" in call else "")
        self.mark("agg " + call.split("(")[0] + (" distinct" if "DISTINCT" in call else ""))
        if filters and self.chance(0.15):
            self.mark("filter clause")
            call += f" FILTER (WHERE {self.pred(s.cols, 0, 1)})"
        return Col(call, first.type if result == "=" else result)

    def calls(self, s: Scope) -> list[Col]:
        return [a for _ in range(self.rng.randint(2, 5)) if (a := self.aggregate_call(s))][:3] or [
            Col("count(*)", "big")
        ]

    def window_call(self, s: Scope) -> Col | None:
        result, call = self.rng.choice(lines(WINDOWS))
        parts = call.split(" ")
        flags = parts.pop() if parts[-1] in ("@", "@f", "f") else ""
        arg = parts.pop()
        if parts[-1] == "-":
            arg = parts.pop()
        call = " ".join(parts)
        usable = [c for c in s.cols if (c.type in ORDERED if arg == "o" else c.type == arg)]
        if "{}" in call and not usable or "@" in flags and not s.order or not s.order:
            return None
        c = self.rng.choice(usable) if usable else Col("", "int")
        parted = self.rng.choice([x.ref for x in s.cols if x.type in ORDERED])
        frame = self.rng.choice(FRAMES) if "f" in flags else ""
        keys = [] if self.chance(0.15) else [f"PARTITION BY {parted}"]
        loose = (frame.startswith(("GROUPS", "RANGE")) or not flags) and "@" not in flags and self.chance(0.5)
        order = (
            f"{self.rng.choice([x.ref for x in s.cols if x.type in ORDERED])}{self.rng.choice(('', ' DESC'))}"
            if loose
            else self.by(s)
        )
        times = [x.ref for x in s.cols if x.type in ("ts", "tz", "date")]
        if flags == "f" and times and self.chance(0.15):
            frame, order = self.rng.choice(BY_TIME), f"{self.rng.choice(times)}{self.rng.choice(('', ' DESC'))}"
        keys += [] if flags == "f" and not frame and self.chance(0.4) else [f"ORDER BY {order}"]
        self.mark("window " + call.split("(")[0])
        self.mark("window without partition" if "PARTITION" not in " ".join(keys) else "window by partition")
        return Col(
            f"{call.replace('{}', c.ref)} OVER ({' '.join(keys + [frame] if frame else keys)})",
            c.type if result == "=" else result,
        )
