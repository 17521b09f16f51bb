"""The maintenance of a set of views: named statements, in order, for a batch that changes some tables.

First every new value is computed from states not yet touched (`Step`), then the states take them (`Merge`): so each
state is read as it was before the batch, and an engine whose tables commit one by one can repeat the second part.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.ir.relation import State, Temp, walk
from compiler.maintenance.builder import Builder
from compiler.maintenance.program import Merge, Program, Statement, Step, states_of
from compiler.simplify.prune import prune
from compiler.state import ViewPlan

__all__ = ["Merge", "Program", "Statement", "Step", "maintenance_of", "program", "rules_of", "states_of"]


def program(plans: list[ViewPlan], changed: frozenset[str]) -> Program:
    """The statements for a batch that changes the tables `changed` (schema-qualified names)."""
    p = _built(plans, changed)
    p.steps = [replace(s, relation=prune(s.relation)) for s in p.steps]
    p.merges = [replace(m, source=m.source if isinstance(m.source, Temp) else prune(m.source)) for m in p.merges]
    return p


def _built(plans: list[ViewPlan], changed: frozenset[str]) -> Program:
    states = states_of(plans)
    read = {n.name for s in states for n in walk(s.definition) if isinstance(n, State)}
    return Builder(changed, read).build(states)


def maintenance_of(plan: ViewPlan) -> str:
    """incremental (delta rules only), keyed (affected keys are recomputed) or recompute."""
    used = rules_of(plan)
    if "whole" in used:
        return "recompute"
    return "keyed" if "keyed" in used else "incremental"


def rules_of(plan: ViewPlan) -> set[str]:
    p = _built([plan], plan.tables)
    return {r for rules in p.rules.values() for r in rules}
