"""Paces for a view, from what its engine knows: sizes, how long states took to fill, what taking paths took lately."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.catalog import mirror_name
from compiler.maintain.kept import own
from compiler.maintain.pace.cardinality import Amounts, Sizes
from compiler.maintain.pace.cost import PathCost, costs, starting
from compiler.maintain.pace.paces import Paces, View, choose, finishing
from compiler.maintain.paced import Path, logs, paths
from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine
from connectors.paced_states import Measured

Found = Mapping[str, tuple[int, int]]  # what waits: of each log the rows that come, and those that go
ANEW = 1.2  # times what filling states anew takes, from which on that is done
FEW = 1_000  # rows, of which it is not
MOST, LEAST = 1_000.0, 0.001  # times that something may take what was estimated
LEAST_START = 0.1  # of what a path takes


@dataclass(frozen=True)
class Planned:
    """The paces of a view in a period of its lag, the rows that arrive in each table in it, and the seconds that
    computing it anew takes."""

    paces: Paces
    arriving: Mapping[str, float]
    anew: float

    def to_json(self) -> str:
        p = self.paces
        return json.dumps(
            {
                "refresh": p.refresh,
                "inner": [[x.source, x.state, k] for x, k in p.inner.items()],
                "total_seconds": p.work.total,
                "final_seconds": p.work.final,
                "one_pace_total_seconds": p.at_once.total if p.at_once is not None else None,
                "recompute_seconds": self.anew,
                "arriving": dict(self.arriving),
            }
        )


def planned(on: Engine, plan: ViewPlan, arriving: Mapping[str, Amounts]) -> Planned:
    """`arriving`: what changes in each table in a period."""
    assert plan.lag is not None
    anew = filling(on, plan)
    inner = frozenset(p for p in paths(plan.states) if p.state not in plan.shown)
    estimated = costs(plan.states, sizes(on, plan), arriving)
    some = {t: a.rows for t, a in arriving.items()}
    view = View(corrected(estimated, on.paced.measured()), inner, some, anew or float("inf"))
    return Planned(choose(view, plan.lag.final_work * anew), some, anew)


def filling(on: Engine, plan: ViewPlan) -> float:
    """Seconds that filling its states took."""
    reached = on.paced.reached()
    return sum(reached[s.name].filled for s in own(plan.states) if s.name in reached)


def better_anew(on: Engine, plan: ViewPlan, found: Found, anew: float) -> bool:
    """Whether filling the states of a view, in `anew` seconds, is less work than to take what waits for them."""
    by_log = logs(plan.states)
    rows = {by_log[log]: float(new + old) for log, (new, old) in found.items() if new or old}
    if sum(rows.values()) < FEW or not anew:
        return False
    estimated = corrected(costs(plan.states, sizes(on, plan), {}), on.paced.measured())
    return finishing(estimated, rows) > ANEW * anew


def sizes(on: Engine, plan: ViewPlan) -> Sizes:
    mirrors = on.paced.sizes()
    rows = {t: float(mirrors.get(mirror_name(t), 0)) for t in plan.tables}
    rows |= {s.name: float(on.rows(s.name) or 0) for s in own(plan.states)}
    return Sizes(rows)


def corrected(estimated: list[PathCost], measured: list[Measured]) -> list[PathCost]:
    """The costs, with what was measured: paths that were taken together share what they took beyond the estimate.

    What it takes to start and what rows take are told apart where times had more rows and fewer; where not, a path that
    was taken alone has its rows' share from when it was taken with others, or else both are off by the same."""
    by_path = {c.path: c for c in estimated}
    known: set[Path] = set()  # those whose rows' share was measured
    for m in sorted(measured, key=lambda m: -len(m.paths)):  # what was taken alone tells more
        if not m.rows or not by_path.keys() >= set(m.paths):
            continue
        some = [by_path[p] for p in m.paths]
        seconds = m.seconds / m.times
        starts, rows = starting(some), sum(c.varying(n / m.times) for c, n in zip(some, m.each, strict=True))
        if (start := m.start()) is None and known >= set(m.paths):
            start = min(max(seconds - rows, LEAST_START * seconds), seconds)
        elif start is None:
            start = seconds * starts / (starts + rows)
        else:
            known |= set(m.paths)
        by_row = min(max((seconds - start) / rows, LEAST), MOST) if rows else 1.0
        by_path |= {c.path: c.measured(c.start * start / starts, by_row) for c in some}
    return [by_path[c.path] for c in estimated]
