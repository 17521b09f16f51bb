"""Paces of the paths of a view: least total work, with no more than a bound left at any time.

A pace of k means: taken each time that another 1/k of a period's changes has arrived. `simulate` and `choose` are
algorithms 1 and 2 of "Thrifty Query Execution via Incrementability". One thing is different here: what readers see is
taken together with all that waits below it, so that a view is always as of one time. These paths have one pace, that
of `refresh`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler.maintain.pace.cost import PathCost, starting
from compiler.maintain.pace.curve import Curve
from compiler.maintain.paced import Path

NEAR = 1.25  # times what the fastest paces leave: less is not asked for
Curves = Mapping[frozenset[Path], Curve]
Programs = dict[object, list[tuple[PathCost, float]]]  # by state or path, with the rows that wait
LEVELS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)


@dataclass(frozen=True)
class Work:
    """Seconds: of all that is done in a period, and of what may be left to do at its end."""

    total: float
    final: float


@dataclass(frozen=True)
class Pace:
    """How often in a period a view is finished, and how often the paths below are taken."""

    refresh: int
    inner: Mapping[Path, int]


@dataclass(frozen=True)
class Paces:
    """`refresh`: how often in a period the view is finished; `inner`: how often paths into states that no reader sees
    are taken. `work` is what they cost, `at_once` what one pace for all would that leaves as little, None where none
    does."""

    refresh: int
    inner: Mapping[Path, int]
    work: Work
    at_once: Work | None


@dataclass(frozen=True)
class View:
    """The paths of a view in the order in which they are taken, those that are taken one by one (`inner`), and the rows
    that arrive in each table in a period. `anew`: the seconds that computing the view anew takes, in place of finishing
    it. `curves`: of paths that were taken together, what was measured. `beside`: the seconds of each transaction that
    no path takes."""

    paths: Sequence[PathCost]
    inner: frozenset[Path]
    arriving: Mapping[str, float]
    anew: float = float("inf")
    curves: Curves = field(default_factory=dict)
    beside: float = 0.0

    def below(self, path: Path) -> list[Path]:
        """The paths into the state that a path comes from."""
        return [p.path for p in self.paths if p.path.state == path.source]


def simulate(view: View, refresh: int, inner: Mapping[Path, int]) -> Work:
    """The work of a period in which changes arrive evenly."""
    k = {c.path: max(inner.get(c.path, refresh), refresh) for c in view.paths}
    moments = sorted({(i + 1) / n for n in {refresh, *k.values()} for i in range(n)})
    waiting = dict.fromkeys(k, 0.0)
    readers: dict[str, list[Path]] = {}
    for p in k:
        readers.setdefault(p.source, []).append(p)
    together = _together(view.paths)
    total, before, cost = 0.0, 0.0, 0.0
    for now in moments:
        for p in k:
            waiting[p] += view.arriving.get(p.source, 0.0) * (now - before)
        whole = _due(now, before, refresh)
        programs: Programs = {}  # paths of one state are taken together when the view is finished
        for c in view.paths:
            n = waiting[c.path]
            if n and (whole or (c.path in view.inner and _due(now, before, k[c.path]))):
                programs.setdefault(c.path.state if whole else c.path, []).append((c, n))
                for r in readers.get(c.path.state, ()):
                    waiting[r] = c.waits(waiting[r], c.out(n))
                waiting[c.path] = 0.0
        cost = _seconds(programs, together, view.curves) + (view.beside if programs else 0.0)
        cost = min(cost, view.anew) if whole else cost
        total, before = total + cost, now
    return Work(total, cost)


def finishing(paths: Sequence[PathCost], rows: Mapping[Path, float], curves: Curves | None = None) -> float:
    """The seconds that finishing a view takes, of whose paths so many rows wait."""
    waiting = dict(rows)
    programs: Programs = {}
    for c in paths:
        if n := waiting.get(c.path, 0.0):
            programs.setdefault(c.path.state, []).append((c, n))
            for r in paths:
                if r.path.source == c.path.state:
                    waiting[r.path] = c.waits(waiting.get(r.path, 0.0), c.out(n))
    return _seconds(programs, _together(paths), curves or {})


def _together(paths: Sequence[PathCost]) -> dict[object, frozenset[Path]]:
    """Of each program that there may be, the paths that it takes: all into a state, or one."""
    out: dict[object, frozenset[Path]] = {c.path: frozenset([c.path]) for c in paths}
    for state in {c.path.state for c in paths}:
        out[state] = frozenset(c.path for c in paths if c.path.state == state)
    return out


def _seconds(programs: Programs, together: Mapping[object, frozenset[Path]], curves: Curves) -> float:
    """What programs take of these rows: as they were measured to, or else as it is estimated of their paths."""
    out = 0.0
    for program, some in programs.items():
        if (known := curves.get(together[program])) is not None:
            out += known.seconds(sum(c.estimated(n) for c, n in some))
        else:
            out += starting([c for c, _ in some]) + sum(c.varying(n) for c, n in some)
    return out


def _due(now: float, before: float, pace: int) -> bool:
    """Whether another part of the period is over."""
    return int(now * pace + 1e-9) > int(before * pace + 1e-9)


def choose(view: View, bound: float) -> Paces:
    """The paces, from the slowest on: each time the path goes faster that saves most of the work left at the end for
    the work that it adds, until no more than `bound` seconds are left, or nothing saves any. A bound that no paces meet
    is not come close to at any price."""
    fastest = LEVELS[-1]
    bound = max(bound, NEAR * simulate(view, fastest, dict.fromkeys(view.inner, fastest)).final)
    start = Pace(1, dict.fromkeys(view.inner, 1))
    now = _Step(start, simulate(view, start.refresh, start.inner))
    while now.work.final > bound and (faster := _greedy(view, now, bound)) is not None:
        now = faster
    one = uniform(view, max(bound, now.work.final))
    if one is not None and one[1].total < now.work.total:  # where greed went astray
        now = _Step(Pace(one[0], dict.fromkeys(view.inner, one[0])), one[1])
    return Paces(now.pace.refresh, now.pace.inner, now.work, one[1] if one is not None else None)


@dataclass(frozen=True)
class _Step:
    pace: Pace
    work: Work


def _greedy(view: View, now: _Step, bound: float) -> _Step | None:
    """Steps from here on, until the bound is met or none that is known saves anything; None where none does at once.

    What a path gains shrinks as others go faster. So it is found out again of the path that seemed to gain most, and if
    it still does, no other has to be looked at.
    """
    begun = now
    gains: dict[Path | None, float] = dict.fromkeys([None, *sorted(now.pace.inner, key=repr)], float("inf"))
    tried: dict[Path | None, tuple[_Step, _Step]] = {}  # of a path, where it leads, from where
    while gains and now.work.final > bound:
        path = max(gains, key=lambda p: gains[p])
        if gains[path] <= 0:
            break
        if path in tried and tried[path][0] is now:
            now = tried[path][1]
        elif (pace := _faster(view, now.pace, path)) is None:
            del gains[path]
        else:
            tried[path] = now, _Step(pace, simulate(view, pace.refresh, pace.inner))
            gains[path] = incrementability(now.work, tried[path][1].work)
    return now if now is not begun else None


def _faster(view: View, now: Pace, path: Path | None) -> Pace | None:
    """With one path, or without one `refresh`, at its next pace, and what is below it no slower; None where it is as
    fast as can be."""
    pace = now.inner[path] if path is not None else now.refresh
    if pace == LEVELS[-1]:
        return None
    pace = LEVELS[LEVELS.index(pace) + 1]
    some = set(now.inner) if path is None else {path}
    todo = list(some) if path is not None else []
    while todo:
        below = [b for b in view.below(todo.pop()) if b in now.inner and b not in some]
        some.update(below)
        todo += below
    inner = {p: max(k, pace) if p in some else k for p, k in now.inner.items()}
    return Pace(now.refresh if path is not None else pace, inner)


def uniform(view: View, bound: float) -> tuple[int, Work] | None:
    """The one pace for all paths that takes the least work and leaves no more than `bound` seconds, and its work."""
    every = {k: simulate(view, k, dict.fromkeys(view.inner, k)) for k in LEVELS}
    found = [(k, w) for k, w in every.items() if w.final <= bound * 1.000001]
    return min(found, key=lambda x: x[1].total, default=None)


def incrementability(slower: Work, faster: Work) -> float:
    """What going faster saves at the end for each second that it adds; infinite where it adds none."""
    saved, added = slower.final - faster.final, faster.total - slower.total
    if saved <= 0:
        return min(saved, 0.0)
    return saved / added if added > 0 else float("inf")
