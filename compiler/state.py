"""What is kept between batches: each aggregate's groups with their accumulators, recursive results, and the view.

`plan` cuts a normalized view into states, innermost first, and a readable top over the last of them: projections,
filters and LIMIT above the last state, and windows over all its rows, are evaluated when the view is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.delta.recursive import apart
from compiler.ir import types
from compiler.ir.parts import of_a_round
from compiler.ir.relation import (
    Agg,
    Aggregate,
    Filter,
    Fixpoint,
    Project,
    Relation,
    Scan,
    State,
    TopK,
    Window,
    WindowCall,
    transform,
    walk,
)
from compiler.ir.scalar import Col
from compiler.ir.types import INT8
from compiler.normalize.additive import PAIRS, VARIANCES
from compiler.simplify.projects import fuse_projects
from compiler.simplify.prune import prune
from compiler.temporal import split_filters, timed

COUNT = "_count"
WEIGHT = "_weight"
ACCUMULATED = {"count", "sum0", "min", "max"}
ORDERED = {"string_agg", "array_agg"}
STATISTICS = {*VARIANCES, *PAIRS} - {"regr_count"}


@dataclass(frozen=True)
class StateDef:
    """A kept relation. `kind`: groups (accumulators by key), keyed (groups recomputed whole), bag (rows with weights).

    `definition` is what it holds, over scans and earlier states; of groups and keyed, an `Aggregate` whose first
    accumulator is `_count`, the number of rows in the group.
    """

    name: str
    kind: str
    definition: Relation
    key: tuple[str, ...]
    reason: str = ""

    @property
    def columns(self) -> tuple[Col, ...]:
        cols = self.definition.schema
        return cols if self.kind != "bag" else (*cols, Col(WEIGHT, INT8))


@dataclass
class ViewPlan:
    """States of a view, innermost first, and the relation that reads it, over states at their present time."""

    view: str
    states: list[StateDef]
    top: Relation
    outputs: list[tuple[str, Col]]
    tables: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)  # where it may differ from Postgres
    hangs_on_ties: bool = False  # whether rows that its orders find equal could be taken in another order and give another answer


def digest(r: Relation) -> str:
    return hashlib.sha1(repr(r).encode()).hexdigest()[:8]


def plan(view: str, rel: Relation, outputs: list[tuple[str, Col]], warnings: list[str] | None = None) -> ViewPlan:
    """Choose the states of a normalized view."""
    states: dict[str, StateDef] = {}
    tables = frozenset(n.table for n in walk(rel) if isinstance(n, Scan))

    def keep(n: Relation) -> Relation:
        if not isinstance(n, Aggregate | Window | Fixpoint) or of_a_round(n):
            return n
        if isinstance(n, Aggregate):
            d = group_state(Aggregate(transform(n.input, ordered), n.keys, n.aggs))
            states.setdefault(d.name, d)
            raw = State(d.name, d.definition.schema, d.key)
            return Project(raw, tuple((c.name, c if c.name in raw.names else Col(COUNT, INT8)) for c in n.schema))
        if isinstance(n, Window) and inexact(n):
            tables = sorted({s.table.split(".")[-1] for s in walk(n) if isinstance(s, Scan)})
            name = f"{_slug([*tables[:3], 'windows'])}_{digest(n)}"
            states.setdefault(name, StateDef(name, "bag", transform(n, ordered), (), "inexact_window"))
            return State(name, n.schema, ("",))
        if isinstance(n, Fixpoint):
            n = apart(n, lambda x: rows(transform(x, ordered), f"{_slug([view])}_beside_{digest(x)}"))
            name = f"{_slug([n.name])}_{digest(n)}"
            states.setdefault(name, StateDef(name, "bag", n, (), "recursion"))
            return State(name, n.schema, ("",))
        return n

    def rows(n: Relation, name: str) -> State:
        states[name] = StateDef(name, "bag", n, ())
        return State(name, n.schema, ("",))

    def settled(n: Relation, name: str) -> Relation:
        """n over states alone: what is readable stays above the last of them."""
        above, below = _peel(n)
        below = transform(below, keep)
        for op in reversed(above):
            below = op.rebuild((below,))
        body = fuse_projects(below)
        ops, rest = _peel(body)
        if not isinstance(rest, State):
            rest, ops = _settle(body)
            rest = transform(rest, ordered)
            rest = rows(rest, f"{name}_{digest(rest)}")
        for op in reversed(ops):
            rest = op.rebuild((rest,))
        return rest

    def ordered(n: Relation) -> Relation:
        """Below other operators, a window or LIMIT over all rows reads rows that are kept for it."""
        if not isinstance(n, Window | TopK) or n.partition or not any(isinstance(x, Scan) for x in walk(n.input)):
            return n
        return n.rebuild((rows(n.input, f"{_slug([view])}_ordered_{digest(n.input)}"),))

    notes: list[str] = []
    moving = timed(rel)
    if moving:
        notes.append("it reads the time: what depends on it is finished when the view is read, over rows that are maintained")
        top = _timed_top(split_filters(prune(rel), timed(prune(rel))), settled, view)
    else:
        top = settled(rel, f"{_slug([view])}_rows")
    return ViewPlan(view, list(states.values()), top, outputs, tables, notes, warnings or [])


def _timed_top(r: Relation, settled: Callable[[Relation, str], Relation], view: str) -> Relation:
    """The part of a view that depends on the time, over states of the part that does not."""
    moving = timed(r)

    def cut(n: Relation) -> Relation:
        if n in moving or of_a_round(n):
            return n.rebuild(tuple(cut(i) for i in n.inputs)) if n.inputs else n
        if not any(isinstance(x, Scan) for x in walk(n)):
            return n
        return settled(n, f"{_slug([view])}_rows")

    return cut(r)


def readable(r: Relation) -> bool:
    """Whether an operator at the top is left to the reader."""
    return isinstance(r, Project | Filter) or (isinstance(r, TopK | Window) and not r.partition)


def _peel(r: Relation) -> tuple[list[Relation], Relation]:
    """(operators at the top that are left to the reader, from the outermost; what is below them)"""
    ops: list[Relation] = []
    while readable(r):
        ops.append(r)
        r = r.inputs[0]
    return ops, r


def inexact(n: Window) -> bool:
    """Whether computing the window twice over the same rows may give other values: sums of floating point depend on the order
    they are made in, and lists are in that order. Such a window's rows are kept, so that the very ones kept are taken back."""
    return any(c.fn in ORDERED or c.fn in STATISTICS or c.fn in ("sum", "avg") and any(types.is_float(a.type) for a in c.args) or _tied(c)
               for _, c in n.calls)


def _tied(c: WindowCall) -> bool:
    """Whether rows are counted off among equals, for which the order has no say (what can be settled is, in `normalize/ties`)."""
    counted = c.frame is not None and c.frame[0] == "rows" and c.frame[3] in ("ties", "group")
    return counted and not all(b.startswith("unbounded") for b, _ in c.frame[1:3])  # type: ignore[index]


def _settle(body: Relation) -> tuple[Relation, list[Relation]]:
    """Without a state at the bottom: keep rows below the last window or limit that is left to the reader."""
    ops: list[Relation] = []
    last, chain, r = 0, [body], body
    while readable(r):
        ops.append(r)
        r = r.inputs[0]
        chain.append(r)
        if isinstance(ops[-1], TopK | Window):
            last = len(ops)
    return chain[last], ops[:last]


def group_state(n: Aggregate) -> StateDef:
    """The state of an aggregate: accumulators when it has only those, otherwise its groups as computed."""
    rows = (COUNT, Agg("count", (), INT8))
    definition = Aggregate(n.input, n.keys, (rows, *((k, a) for k, a in n.aggs if a != rows[1])))
    kind = "groups" if all(a.fn in ACCUMULATED and not a.distinct for _, a in n.aggs) else "keyed"
    tables = sorted({s.table.split(".")[-1] for s in walk(n) if isinstance(s, Scan)})
    name = f"{_slug([*tables[:3], 'by', *(k for k, _ in n.keys)] if n.keys else [*tables[:3], 'total'])}_{digest(definition)}"
    return StateDef(name, kind, definition, tuple(k for k, _ in n.keys))


def _slug(parts: list[str]) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", "_".join(parts).lower()).strip("_")[:44] or "state"
