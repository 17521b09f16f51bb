"""Paces for a view, from what its engine knows: sizes, how long states took to fill, what taking paths took lately."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compiler.catalog import mirror_name
from compiler.maintain.cohort import Cohort
from compiler.maintain.kept import Kept, own
from compiler.maintain.pace.cardinality import Amounts, Sizes
from compiler.maintain.pace.cost import PathCost, costs, starting
from compiler.maintain.pace.curve import LEAST_START, OFTEN, Curve, Knot, curve
from compiler.maintain.pace.paces import Pace, Paces, View, choose, finishing, simulate
from compiler.maintain.paced import Path, logs, paths
from connectors.engine import Engine
from connectors.paced_states import Measured, whatever_waited

Found = Mapping[str, tuple[int, int]]  # what waits: of each log the rows that come, and those that go
ANEW = 1.2  # times what filling states anew takes, from which on that is done
FEW = 1_000  # rows, of which it is not
MOST, LEAST = 1_000.0, 0.001  # times that something may take what was estimated
OFF = 5.0  # times, at most, that finishing is taken to be off by
APART = 1.5  # times as much, that rows have to have been estimated to take at one time as at another, for a line


@dataclass(frozen=True)
class Planned:
    """The paces of views that share states in a period of their lag, the rows that arrive in each table in it, and the
    seconds that computing them anew takes. `unmet`: no paces leave as little as may be left, by what is known."""

    paces: Paces
    arriving: Mapping[str, float]
    anew: float
    unmet: bool

    def to_json(self, some: Iterable[Path]) -> str:
        """Of the paths of one of the views."""
        p, some = self.paces, {*some}
        return json.dumps(
            {
                "refresh": p.refresh,
                "inner": [[x.source, x.state, k] for x, k in p.inner.items() if x in some],
                "total_seconds": p.work.total,
                "final_seconds": p.work.final,
                "one_pace_total_seconds": p.at_once.total if p.at_once is not None else None,
                "recompute_seconds": self.anew,
                "arriving": dict(self.arriving),
            }
        )


@dataclass(frozen=True)
class Left:
    """What was left to do at the end of a period with these paces: seconds."""

    pace: Pace
    seconds: float

    def off(self, view: View) -> float:
        """How many times as much that was as is expected by now."""
        expected = simulate(view, self.pace.refresh, self.pace.inner).final
        return min(max(self.seconds / expected, 1.0), OFF) if expected else 1.0


def planned(on: Engine, c: Cohort, arriving: Mapping[str, Amounts], left: Left | None = None) -> Planned:
    """`arriving`: what changes in each table in a period. `left`: what finishing the views took of late. No more may be
    left of all of them than of the one that says least."""
    anew, states, shown = filling(on, c.states), c.states, c.shown
    inner = frozenset(p for p in paths(states) if p.state not in shown)
    estimated = costs(states, sizes(on, c), arriving)
    some = {t: a.rows for t, a in arriving.items()}
    measured = on.paced.measured()
    known, each = corrected(estimated, measured), curves(estimated, measured)
    view = View(known, inner, some, anew or float("inf"), each, on.paced.beside_programs())
    off = left.off(view) if left is not None else 1.0
    bound = min((s for s in promised(on, c).values() if s), default=anew) / off
    paces = choose(view, bound)
    return Planned(paces, some, anew, paces.work.final > bound * 1.000001)


def filling(on: Engine, states: Iterable[Kept]) -> float:
    """Seconds that filling these states took."""
    reached = on.paced.reached()
    return sum(reached[s.name].filled for s in own(states) if s.name in reached)


def promised(on: Engine, c: Cohort) -> dict[str, float]:
    """Of each view, the seconds that finishing it is to take at most; 0 where it does not say."""
    shares = {p.view: (p.lag.final_work, p.states) for p in c.plans if p.lag is not None}
    return {v: share * filling(on, states) if share < 1 else 0.0 for v, (share, states) in shares.items()}


def better_anew(on: Engine, c: Cohort, found: Found) -> bool:
    """Whether filling the states of these views is less work than to take what waits for them."""
    by_log, anew = logs(c.states), filling(on, c.states)
    rows = {by_log[log]: float(new + old) for log, (new, old) in found.items() if new or old}
    if sum(rows.values()) < FEW or not anew:
        return False
    estimated, measured = costs(c.states, sizes(on, c), {}), on.paced.measured()
    return finishing(corrected(estimated, measured), rows, curves(estimated, measured)) > ANEW * anew


def sizes(on: Engine, c: Cohort) -> Sizes:
    mirrors = on.paced.sizes()
    rows = {t: float(mirrors.get(mirror_name(t), 0)) for t in c.tables}
    rows |= {s.name: float(on.rows(s.name) or 0) for s in own(c.states)}
    return Sizes(rows)


def curves(estimated: list[PathCost], measured: list[Measured]) -> dict[frozenset[Path], Curve]:
    """Of paths that were taken together, what that took by what was estimated."""
    by_path = {c.path: c for c in estimated}
    knots: dict[frozenset[Path], list[Knot]] = defaultdict(list)
    for m in measured:
        if m.rows and by_path.keys() >= set(m.paths):
            each = (by_path[p].estimated(n / m.times) for p, n in zip(m.paths, m.each, strict=True))
            knots[frozenset(m.paths)].append(Knot(sum(each), m.seconds / m.times, m.times))
    found = ((some, curve(k, starting([by_path[p] for p in some]))) for some, k in knots.items())
    return {some: c for some, c in found if c is not None}


def corrected(estimated: list[PathCost], measured: list[Measured]) -> list[PathCost]:
    """The costs, with what was measured: paths that were taken together share what they took beyond the estimate.

    What it takes to start and what rows take are told apart where times had more rows and fewer; where not, a path that
    was taken alone has its rows' share from when it was taken with others, or else both are off by the same."""
    by_path = {c.path: c for c in estimated}
    known: set[Path] = set()  # those whose rows' share was measured
    sets = {m.paths for m in measured}
    for some_paths in sorted(sets, key=lambda p: (-len(p), repr(p))):  # what was taken alone tells more
        points = [m for m in measured if m.paths == some_paths and m.rows]
        if not points or not by_path.keys() >= set(some_paths):
            continue
        some = [by_path[p] for p in some_paths]
        line = _line([(_varying(some, m), m.seconds / m.times, m.times) for m in points])
        if line is not None:
            start, by_row = line
            known |= set(some_paths)
        else:
            start, by_row = _shares(some, whatever_waited(points)[0], known >= set(some_paths))
        starts = starting(some)
        by_path |= {c.path: c.measured(c.start * start / starts, min(max(by_row, LEAST), MOST)) for c in some}
    return [by_path[c.path] for c in estimated]


def _varying(some: list[PathCost], m: Measured) -> float:
    """The seconds that were estimated for the rows of one time."""
    return sum(c.varying(n / m.times) for c, n in zip(some, m.each, strict=True))


def _shares(some: list[PathCost], m: Measured, rows_known: bool) -> tuple[float, float]:
    """The seconds to start and for a second that was estimated for rows, of times that had about as many."""
    seconds, starts, rows = m.seconds / m.times, starting(some), _varying(some, m)
    start = seconds * starts / (starts + rows)
    if rows_known:
        start = min(max(seconds - rows, LEAST_START * seconds), seconds)
    return start, (seconds - start) / rows if rows else 1.0


def _line(points: list[tuple[float, float, float]]) -> tuple[float, float] | None:
    """The same by a line through times: what was estimated for rows, the seconds, and how often. Times count by how far
    they are off as a share of themselves, the many that were small no more than the few that were large. None where
    what was estimated is about the same."""
    low, high = min(x for x, _, _ in points), max(x for x, _, _ in points)
    if high <= APART * low:
        return None
    each = [(x, y, min(n, OFTEN) / y**2) for x, y, n in points if y > 0]
    total = sum(w for _, _, w in each)
    mean_x, mean_y = (sum(p[i] * p[2] for p in each) / total for i in (0, 1))
    spread = sum(w * (x - mean_x) ** 2 for x, _, w in each)
    slope = max(sum(w * (x - mean_x) * (y - mean_y) for x, y, w in each) / spread, 0.0) if spread else 0.0
    start, least = mean_y - slope * mean_x, LEAST_START * min(y for _, y, _ in each)
    if start >= least:
        return start, slope
    return least, sum(w * x * (y - least) for x, y, w in each) / sum(
        w * x * x for x, _, w in each
    )  # rows take the rest
