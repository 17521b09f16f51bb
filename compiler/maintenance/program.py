"""What a batch runs: steps that compute, merges that the states take, and both as SQL statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.ir.relation import Project, Relation, Scan, walk
from compiler.ir.scalar import columns
from compiler.state import StateDef, ViewPlan


@dataclass(frozen=True)
class Statement:
    """SQL text and what it is about. `kind`: create, fill, step, merge, read. `needs` are tables that must have changed."""

    kind: str
    target: str
    sql: str
    reads: tuple[str, ...]
    writes: str
    rule: str
    state: str = ""


@dataclass(frozen=True)
class Step:
    """A result kept for the rest of the batch under `name`; `signed` ones have a weight column."""

    name: str
    relation: Relation
    signed: bool
    rule: str
    state: str


@dataclass(frozen=True)
class Merge:
    """A state takes its change. `how`: add (accumulators are added), replace (groups are replaced), bag (weights)."""

    state: StateDef
    source: Relation
    how: str
    rule: str


@dataclass
class Program:
    """What to run for a batch: steps, then merges. `rules` names the kinds of rules each state uses."""

    steps: list[Step] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    rules: dict[str, set[str]] = field(default_factory=dict)

    def columns(self, *times: str) -> dict[str, frozenset[str]]:
        """Of each table, the columns read at one of `times`: those of the projection right above its scan."""
        out: dict[str, frozenset[str]] = {}
        for r in (*(s.relation for s in self.steps), *(m.source for m in self.merges)):
            for n in (Project(r, tuple((c.name, c) for c in r.schema)), *walk(r)):
                for scan in n.inputs:
                    if isinstance(scan, Scan) and scan.at in times:
                        read = columns(*(e for _, e in n.exprs)) if isinstance(n, Project) else scan.names
                        out[scan.table] = out.get(scan.table, frozenset()) | set(read)
        return out


def states_of(plans: list[ViewPlan]) -> list[StateDef]:
    """All states, each once, those that others read first."""
    out: dict[str, StateDef] = {}
    for p in plans:
        for s in p.states:
            out.setdefault(s.name, s)
    return list(out.values())
