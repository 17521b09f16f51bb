"""Random SQL views over a random schema, with the features each one uses. What needs an order gets a total one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.schema import Table, literal

AGGS = """big count(*) -|big count({}) *|big count(DISTINCT {}) o|big sum({}) int|num sum({}) num|num sum(DISTINCT {}) num
float sum({}) float|numx avg({}) int|numx avg({}) num|numx avg(DISTINCT {}) int|approx avg({}) float|= min({}) o|= max({}) o
approx stddev_samp({}) num|approx var_pop({}) int|approx stddev({}) float|approx variance({}) big|approx corr({}::float8, {}::float8) int
approx covar_pop({}, {}) float|approx regr_slope({}::float8, {}::float8) int|big regr_count({}::float8, {}::float8) num|bool bool_and({}) bool
bool bool_or({}) bool|bool every({}) bool|int bit_and({}) int|int bit_or({}) int|int bit_xor({}) int|text string_agg({}, ',' ORDER BY @) text
text string_agg(DISTINCT {}, '-' ORDER BY {}) text|arr array_agg({} ORDER BY @) int|arr json_agg({} ORDER BY @) int|= mode() WITHIN GROUP (ORDER BY {}) o
arr jsonb_agg({} ORDER BY @) text|approx percentile_cont(0.5) WITHIN GROUP (ORDER BY {}) float|= percentile_disc(0.3) WITHIN GROUP (ORDER BY {}) o
approx percentile_cont(0.25) WITHIN GROUP (ORDER BY {} DESC) int|arr array_agg(DISTINCT {} ORDER BY {}) int"""
WINDOWS = """big row_number() - @|big rank() - o|big dense_rank() - o|approx percent_rank() - o|approx cume_dist() - o|int ntile(3) - @|= lag({}) o @
= lead({}, 2) o @|= lag({}, 1, {}) o @|= first_value({}) o @f|= last_value({}) o @f|= nth_value({}, 2) o @f|big count(*) - f|big count({}) o f
big sum({}) int f|num sum({}) num f|numx avg({}) num f|= min({}) o f|= max({}) o f|float sum({}) float f|big count(*) FILTER (WHERE {}) bool f"""
SCALARS = """int {int} + {int}|int {int} - {int}|int {int} / 3|int {int} % nullif({int}, 0)|int abs({int})|int length({text})|int extract(day FROM {date})::int
int CASE WHEN {bool} THEN {int} ELSE {int} END|int coalesce({int}, {int})|int extract(month FROM {ts})::int|int greatest({int}, {int})|big {big} * 2
big {int}::bigint|big -{big}|num {num} + {num}|num {num} * 2|num round({num}, 1)|num coalesce({num}, 0)|num abs({num})|num {int}::numeric(10,2)|numx {num} / 7
numx {num} * {num}|numx {int} / 4.0|text upper({text})|text {text} || '-' || {text}|text substr({text}, 1, 2)|text coalesce({text}, {text})|text {int}::text
text CASE WHEN {bool} THEN {text} WHEN {bool} THEN 'w' END|text nullif({text}, 'a')|text concat({text}, {int})|text left({text}, -1)|text trim({char})
text {date}::text|ts {ts} + interval '1 day 2 hours'|ts date_trunc('month', {ts})|ts {date}::timestamp|date {date} + 3|date {ts}::date
float {float} * 2|float {int}::float8|float coalesce({float}, 0.5)|float CASE WHEN {bool} THEN {float} END|bool ({bool})|int {date} - {date}|int ({bool})::int"""
SETS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
ORDERED = ("int", "big", "num", "text", "bool", "ts", "tz", "date", "float", "char")
KINDS = ("int", "int", "num", "text", "big", "bool", "ts", "date", "float")
FRAMES = ("ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "",
          "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW", "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
          "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")


def _lines(text: str) -> list[list[str]]:
    return [x.split(" ", 1) for x in re.split(r"(?<!\|)\|(?!\|)|\n", text)]


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
class Views:
    """A source of random views."""

    rng: random.Random
    tables: list[Table]
    used: set[str] = field(default_factory=set)
    names: int = 0
    shared: list[tuple[str, Query]] = field(default_factory=list)

    def view(self, depth: int = 3) -> Query:
        """A view; `used` then names its features."""
        self.used, self.names, self.shared = set(), 0, []
        return self.query(depth)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def mark(self, feature: str) -> None:
        self.used.add(feature.lower())

    def name(self, prefix: str = "t") -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def query(self, depth: int) -> Query:
        """A query of any shape, at most `depth` levels deep."""
        simple: list[Callable[[int], Query]] = [self.select, self.select, self.aggregate, self.aggregate]
        deep = [self.select, self.aggregate, self.aggregate, self.sets, self.sets, self.window, self.window, self.ranked, self.grouping,
                self.distinct_on, self.limited, self.with_twice, self.recursive, self.distinct]
        return self.rng.choice(deep if depth > 0 else simple)(depth)

    # FROM
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
            return Scope(f"generate_series(1, {self.rng.randint(2, 5)}) AS {a}(k0)", [Col(f"{a}.k0", "int")], [f"{a}.k0"])
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
        for _ in range(self.rng.choice((0, 0, 1, 1, 2)[:joins + 1])):
            s = self.join(s, depth)
        if (lists := [c for c in s.cols if c.type in ("ints", "json")]) and self.chance(0.5):
            s = self.unnest(s, self.rng.choice(lists))
        if depth > 0 and self.chance(0.07):
            s = self.lateral(s, depth)
        return s

    def join(self, s: Scope, depth: int) -> Scope:
        other = self.source(depth - 1)
        cols, order = s.cols + other.cols, s.order + other.order if s.order is not None and other.order is not None else None
        pairs = [(x.ref, y.ref) for x in s.cols for y in other.cols if x.type == y.type == "int" or x.type == y.type == "big"]
        pairs = pairs or [(x.ref, y.ref) for x in s.cols for y in other.cols if x.type == y.type and x.type in ORDERED]
        if not pairs or self.chance(0.03):
            self.mark("cross join")
            return Scope(f"{s.sql} CROSS JOIN {other.sql}", cols, order, s.where)
        kind = self.rng.choice(("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", ","))
        self.mark("comma join" if kind == "," else kind)
        if kind == ",":
            x, y = self.rng.choice(pairs)
            return Scope(f"{s.sql} CROSS JOIN {other.sql}", cols, order, [*s.where, f"{x} = {y}"])
        x, y = self.rng.choice(pairs)
        op = "=" if kind == "FULL JOIN" or self.chance(0.93) else self.rng.choice(("<", "<>", "IS NOT DISTINCT FROM"))
        if op != "=":
            self.mark("theta join")
        more = f" AND {self.pred(cols, 0)}" if self.chance(0.25) else ""
        return Scope(f"{s.sql} {kind} {other.sql} ON {x} {op} {y}{more}", cols, order, s.where)

    def unnest(self, s: Scope, c: Col) -> Scope:
        a = self.name("u")
        call = f"unnest({c.ref})" if c.type == "ints" else f"jsonb_array_elements_text({c.ref} -> 'b')"
        self.mark("unnest")
        kind = self.rng.choice(("CROSS JOIN LATERAL {}", "LEFT JOIN LATERAL {} ON true"))
        item = Col(f"{a}.k0", "int" if c.type == "ints" else "text")
        return Scope(s.sql + " " + kind.format(f"{call} AS {a}(k0)"), [*s.cols, item], s.order and [*s.order, item.ref], s.where)

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
        q = f"SELECT {item} AS k0 FROM {inner.sql} WHERE {link} ORDER BY {self.by(inner)} LIMIT {self.rng.randint(1, 3)}"
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
        first = [f"{self.rng.choice(lead)}{self.rng.choice(('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'))}"] if lead else []
        return ", ".join(first + (s.order or []))

    # scalars
    def value(self, cols: list[Col], type: str, depth: int = 1, sub: int = 0) -> str:
        """An expression of the type."""
        mine = [c.ref for c in cols if c.type == type]
        if mine and (depth <= 0 or self.chance(0.6)):
            return self.rng.choice(mine)
        if sub > 0 and self.chance(0.12) and (s := self.scalar_subquery(cols, type, sub)):
            return s
        fitting = [x for t, x in _lines(SCALARS) if t == type]
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
            kind, template = rest.split("}", 1)
            out += head + (self.pred(cols, sub, depth) if kind == "bool" else self.value(cols, kind, depth, sub))
        return out + template

    def pred(self, cols: list[Col], sub: int, depth: int = 2) -> str:
        """A condition; up to `sub` levels of subqueries below it."""
        if depth > 0 and self.chance(0.3):
            a, b = self.pred(cols, sub, depth - 1), self.pred(cols, sub, depth - 1)
            form = self.rng.choice(("({} AND {})", "({} OR {})", "({} OR {})", "(NOT ({}) AND {})", "CASE WHEN {} THEN {} ELSE false END",
                                    "(({}) IS NOT TRUE OR {})", "(NOT ({}) OR {})"))
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
        choices = [f"{c.ref} {self.rng.choice(('=', '<>', '<', '>', '<=', '>='))} {v}", f"{c.ref} IS NULL", f"{c.ref} IS NOT NULL",
                   f"{c.ref} IN ({v}, {literal(self.rng, c.type)})", f"{c.ref} NOT IN ({v}, {literal(self.rng, c.type)})",
                   f"{c.ref} BETWEEN {v} AND {literal(self.rng, c.type)}", f"{c.ref} > {self.rng.choice(same)}",
                   f"{c.ref} IS DISTINCT FROM {self.rng.choice(same)}", f"{c.ref} = {self.rng.choice(same)}"]
        choices += [f"{c.ref}", f"NOT {c.ref}", f"{c.ref} IS NOT TRUE"] if c.type == "bool" else []
        choices += [f"{c.ref} LIKE '%a%'", f"{c.ref} NOT LIKE '_'", f"{c.ref} ILIKE 'A%'"] if c.type == "text" else []
        return self.rng.choice(choices)

    def subquery_pred(self, cols: list[Col], sub: int) -> str | None:
        inner = self.scope(sub - 1, 1)
        link = self.link(inner.cols, cols) if self.chance(0.65) else None
        where = self.where(inner, sub - 1, link)
        form = self.rng.choice(("EXISTS", "NOT EXISTS", "IN", "NOT IN", "= ANY", "<> ALL", ">= ALL", "< ANY", "scalar", "scalar"))
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
            return f"({c.ref}, {d.ref}) {form} (SELECT {self.value(inner.cols, c.type)}, {self.value(inner.cols, d.type)} " \
                   f"FROM {inner.sql}{where})"
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

    def where(self, s: Scope, sub: int, link: str | None = None, p: float = 0.6) -> str:
        parts = s.where + ([link] if link else []) + ([self.pred(s.cols, sub)] if self.chance(p) else [])
        return " WHERE " + " AND ".join(parts) if parts else ""

    # aggregates and windows
    def aggregate_call(self, s: Scope, filters: bool = True) -> Col | None:
        """An aggregate over the scope."""
        result, call = self.rng.choice(_lines(AGGS))
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
        return [a for _ in range(self.rng.randint(2, 5)) if (a := self.aggregate_call(s))][:3] or [Col("count(*)", "big")]

    def window_call(self, s: Scope) -> Col | None:
        result, call = self.rng.choice(_lines(WINDOWS))
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
        order = f"{self.rng.choice([x.ref for x in s.cols if x.type in ORDERED])}{self.rng.choice(('', ' DESC'))}" if loose else self.by(s)
        keys += [] if flags == "f" and not frame and self.chance(0.4) else [f"ORDER BY {order}"]
        self.mark("window " + call.split("(")[0])
        self.mark("window without partition" if "PARTITION" not in " ".join(keys) else "window by partition")
        return Col(f"{call.replace('{}', c.ref)} OVER ({' '.join(keys + [frame] if frame else keys)})", c.type if result == "=" else result)

    # shapes
    def done(self, items: list[Col], rest: str, head: str = "SELECT ") -> Query:
        return Query(head + ", ".join(f"{c.ref} AS k{i}" for i, c in enumerate(items)) + " FROM " + rest, [c.type for c in items])

    def items(self, s: Scope, depth: int, types: list[str] | None = None) -> list[Col]:
        types = types or [self.rng.choice([c.type for c in s.cols] if self.chance(0.7) else KINDS) for _ in range(self.rng.randint(1, 4))]
        return [Col(self.value(s.cols, t, 2, depth), t) for t in types]

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
        form = self.rng.choice(("ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({0}), ({1}), ())", "GROUPING SETS (({0}), ({0}, {1}))"))
        self.mark(form.split(" (")[0])
        refs = [g.ref for g in groups]
        by = form.format(*refs) if "{0}" in form and len(refs) > 1 else "ROLLUP ({})".format(", ".join(refs)) if "{0}" in form else form.format(
            ", ".join(refs))
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

    def ranked(self, depth: int) -> Query:
        s = self.scope(depth - 1)
        if not s.order:
            return self.select(depth)
        self.mark("row_number <= k")
        part = self.rng.choice([c.ref for c in s.cols if c.type in ORDERED])
        fn = self.rng.choice(("row_number", "row_number", "rank", "dense_rank"))
        inner = self.done([*self.items(s, 0), Col(f"{fn}() OVER (PARTITION BY {part} ORDER BY {self.by(s)})", "big")], s.sql + self.where(s, 0))
        keep = [Col(f"q.k{i}", t) for i, t in enumerate(inner.types)]
        return self.done(keep[:-1], f"({inner.sql}) AS q WHERE {keep[-1].ref} {self.rng.choice(('<= 2', '= 1', '< 3', '<= 1'))}")

    def distinct_on(self, depth: int) -> Query:
        s = self.scope(depth - 1)
        if not s.order:
            return self.select(depth)
        self.mark("distinct on")
        key = self.rng.choice([c for c in s.cols if c.type in ORDERED])
        return self.done([key, *self.items(s, 0)], f"{s.sql}{self.where(s, 0)} ORDER BY {key.ref}, {self.by(s)}", f"SELECT DISTINCT ON ({key.ref}) ")

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
        return Query(f"WITH {name} AS ({q.sql}) {body.sql}" if not body.sql.startswith("WITH") else body.sql, body.types)

    def recursive(self, depth: int) -> Query:
        """A walk over the table that refers to itself, a closure, or a series; and a query over it."""
        if self.shared:
            return self.select(depth)
        self.mark("recursive")
        name, n = self.name("w"), self.rng.randint(2, 5)
        walk = f"SELECT id, id, 0 FROM s3 WHERE up IS NULL UNION ALL SELECT e.id, c.k1, c.k2 + 1 FROM s3 e JOIN {name} c ON e.up = c.k0 WHERE c.k2 < 6"
        closure = f"SELECT id, up FROM s3 WHERE up IS NOT NULL UNION SELECT c.k0, e.up FROM {name} c JOIN s3 e ON e.id = c.k1"
        series = f"SELECT 1 UNION ALL SELECT k0 + 1 FROM {name} WHERE k0 < {n}"
        body, types = self.rng.choice(((walk, ["int"] * 3), (closure, ["int"] * 2), (series, ["int"])))
        q = Query(body, types)
        self.shared.append((name, q))
        rest = self.query(depth - 1)
        self.shared.pop()
        head = ", ".join(f"k{i}" for i in range(len(types)))
        return Query(f"WITH RECURSIVE {name}({head}) AS ({body}) {rest.sql}" if not rest.sql.startswith("WITH") else rest.sql, rest.types)
