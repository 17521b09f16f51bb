"""What it costs to take a path: seconds by the rows that wait, and what that makes wait for the states above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compiler.maintain.kept import Accumulated, Bag, Kept, Log, Recomputed
from compiler.maintain.pace.cardinality import NONE, Amounts, Estimator, Sizes, touched
from compiler.maintain.paced import Path

OVERHEAD = 0.006  # seconds of a program that has anything to do
ROW = 1e-6  # seconds for a row that is handled
SHARED = 0.5  # of what it takes to begin: where a program takes several paths, each but one adds this share of its own


@dataclass(frozen=True)
class PathCost:
    """Of one path, by `n` rows that wait: it takes `start` seconds whatever they are, `per_row` n rows are handled, and
    `fan` n reach the state. Of its `groups` (0: it has none) each one that these meet takes `per_group` more. `scale`:
    seconds that were measured for a second that was estimated of these rows."""

    path: Path
    start: float
    per_row: float
    fan: float
    groups: float
    per_group: float
    scale: float = 1.0

    def measured(self, start: float, by: float) -> PathCost:
        """Where it takes other times than estimated: to start, and for its rows so many times as much."""
        return replace(self, start=start, scale=self.scale * by)

    def seconds(self, n: float) -> float:
        return self.start + self.varying(n) if n > 0 else 0.0

    def varying(self, n: float) -> float:
        """The seconds that hang on how many rows there are."""
        return self.scale * self.estimated(n)

    def estimated(self, n: float) -> float:
        """The same, before anything was measured."""
        return ROW * (self.per_row * n + self.per_group * self.hit(n))

    def hit(self, n: float) -> float:
        """Rows of the state that change."""
        return touched(self.fan * n, self.groups) if self.groups else self.fan * n

    def out(self, n: float) -> float:
        """Rows that wait for the states above: of groups what was, and what is."""
        return 2 * self.hit(n) if self.groups else self.fan * n

    def waits(self, before: float, more: float) -> float:
        """Rows that wait once more are added: those of one group are one change."""
        if not self.groups:
            return before + more
        left = (1 - min(before / 2 / self.groups, 1.0)) * (1 - min(more / 2 / self.groups, 1.0))
        return 2 * self.groups * (1 - left)


def starting(paths: Iterable[PathCost]) -> float:
    """The seconds that a program takes to start that takes several paths of one state."""
    each = [c.start for c in paths]
    return max(each, default=0.0) * (1 - SHARED) + SHARED * sum(each)


def costs(states: Iterable[Kept], sizes: Sizes, arriving: Mapping[str, Amounts]) -> list[PathCost]:
    """The paths of a view, those of states that others read first. `arriving`: what changes in a table in a period."""
    out = []
    for s in states:
        if isinstance(s, Log):
            continue
        for w in s.waits:
            path = Path(w.source, s.name)
            out.append(_cost(s, path, sizes, arriving.get(w.source, Amounts(updates=100.0))))
    return out


def _cost(s: Accumulated | Recomputed | Bag, path: Path, sizes: Sizes, change: Amounts) -> PathCost:
    below = s.definition if isinstance(s, Bag) else s.definition.input
    rows = max(change.rows, 1.0)
    large = change * (100.0 / rows) if change != NONE else Amounts(updates=50.0)
    small = large * 0.1
    estimate = Estimator(sizes, path.source)
    at_large, at_small = estimate.flow(below, large), estimate.flow(below, small)
    per_row = max((at_large.work - at_small.work) / (large.rows - small.rows), 0.0)
    start = OVERHEAD + ROW * max(at_small.work - per_row * small.rows, 0.0)
    fan = at_large.out.rows / large.rows
    if isinstance(s, Bag):
        return PathCost(path, start, per_row + 2 * fan, fan, 0.0, 0.0)
    groups = sizes.rows.get(s.name, 0.0) or sizes.groups(below, [e for _, e in s.definition.keys])
    size = sizes.estimate(below) / max(groups, 1.0)
    again = 2 * size if isinstance(s, Recomputed) else 0.1 * size if s.has_extrema else 0.0
    return PathCost(path, start, per_row + fan, fan / 2, max(groups, 1.0), 4.0 + again)
