"""What a program means: the states after a batch, from the states before it, evaluated in memory over Z-sets.

An engine may compute every change before a state takes any of them (two phases, as Delta tables that commit one by
one need it) or one after the other (a transaction). Both have to give the same; `run` does it either way. A
statement that no engine could run is an error here: two changes for one group, a weight below zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from compiler.catalog import mirror_name
from compiler.errors import CompilerBug
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Project, Relation
from compiler.ir.scalar import Col
from compiler.ir.zset import Database, Row, ZSet, add, scaled
from compiler.maintain.change import Add, AddRows, Append, Change, Clear, Replace
from compiler.maintain.kept import COUNT, Accumulated, Kept, Recomputed, own, seen
from compiler.maintain.program import Program
from compiler.maintain.void import void

States = dict[str, ZSet]


def filled(states: Iterable[Kept], db: Database) -> States:
    """What each state holds by its definition, over the tables before the batch; those that others read come first."""
    out: States = {}
    for s in states:
        out[s.name] = evaluate(s.definition, replace(db, delta={}, states=out, temps={}))
    return out


def present(states: Iterable[Kept], found: States) -> States:
    """What states say with their tails: of each that is read, the rows that its readers see."""
    world = Database({}, {}, states=found)
    out: States = {}
    for s in own(states):
        rows = seen(s)
        out[s.name] = found[s.name] if rows is None else evaluate(rows, world)
    return out


def run(p: Program, db: Database, at_once: bool, less: bool = False) -> States:
    """The states after the batch `db.delta`; with `at_once` every change is computed before any is taken, with `less`
    none is that is known to be empty (`void`)."""
    world = replace(landed(p, db), states=dict(db.states), temps={})
    nothing = {f"delta.{mirror_name(t)}" for t, rows in world.delta.items() if not rows}

    def value(r: Relation) -> ZSet:
        return {} if less and any(v <= nothing for v in void(r)) else evaluate(r, world)

    for s in p.steps:
        rows = value(s.relation)
        nothing |= set() if rows else {s.name}
        if not s.signed and any(w < 0 for w in rows.values()):
            raise CompilerBug(f"step {s.name} stores rows that are taken away, without their weights")
        world.temps[s.name] = rows
    given = [value(c.source) for c in p.changes] if at_once else None
    for i, c in enumerate(p.changes):
        source = given[i] if given is not None else value(c.source)
        world.states[c.state.name] = taken(c, world.states[c.state.name], source)
    return world.states


def landed(p: Program, db: Database) -> Database:
    """Between batches, what waits in place of a batch that has landed."""
    if not p.waiting:
        return db
    delta = {t: evaluate(rows, db) for t, rows in p.waiting.items()}
    after = {t: _without(p.waiting[t], rows) if t in delta else rows for t, rows in db.before.items()}
    return replace(db, before={t: add(rows, scaled(delta.get(t, {}), -1)) for t, rows in after.items()}, delta=delta)


def _without(waiting: Project, rows: ZSet) -> ZSet:
    """A table's rows without the values that are not kept of those that wait."""
    kept = [isinstance(e, Col) for _, e in waiting.exprs]
    return add(*({tuple(v if k else None for v, k in zip(row, kept, strict=True)): w} for row, w in rows.items()))


def taken(c: Change, old: ZSet, source: ZSet) -> ZSet:
    """A state after it took its change."""
    match c:
        case AddRows():
            out = add(old, source)
            if any(w < 0 for w in out.values()):
                raise CompilerBug(f"state {c.state.name} has a row less than none")
            return out
        case Append():
            return add(old, source)
        case Clear():
            return {}
        case Add():
            return _merged(c.state, old, source, adds=True)
        case Replace():
            return _merged(c.state, old, source, adds=False)
    assert_never(c)


def _merged(s: Accumulated | Recomputed, old: ZSet, source: ZSet, adds: bool) -> ZSet:
    width, tally = len(s.key), s.definition.names.index(COUNT)
    groups: dict[Row, Row] = {row[:width]: row for row in old}
    seen: set[Row] = set()
    for row, weight in source.items():
        key = row[:width]
        if weight != 1 or key in seen:
            raise CompilerBug(f"state {s.name} is given two changes for one group")
        seen.add(key)
        if adds and key in groups:
            row = (*key, *(a + b for a, b in zip(groups[key][width:], row[width:], strict=True)))
        if s.key and (row[tally] == 0 if adds else row[tally] <= 0):
            groups.pop(key, None)
        else:
            groups[key] = row
    return dict.fromkeys(groups.values(), 1)
