"""What a program takes by what was estimated for its rows: a line from one measured time to the next.

Times are seldom on one line: few keys are looked up, very many are joined, and groups that are met twice are one
change. So each measured one counts where it is, and only beyond them it is told by how the estimate goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

ALIKE = 1.25  # times as much, up to which times are taken for one
OFTEN = 2.0  # times that count, of one
LEAST_START = 0.1  # of what rows took, that it takes to begin


@dataclass(frozen=True)
class Knot:
    """So many seconds were estimated for rows; it took so many seconds, this often."""

    estimated: float
    seconds: float
    times: float


@dataclass(frozen=True)
class Curve:
    """Knots by what was estimated, of which none took less than one before, and the seconds that it takes to begin."""

    knots: tuple[Knot, ...]
    start: float

    def seconds(self, estimated: float) -> float:
        i = bisect_left(self.knots, estimated, key=lambda k: k.estimated)
        if i == len(self.knots):
            return self._beyond(estimated)
        b = self.knots[i]
        x, y = (0.0, self.start) if i == 0 else (self.knots[i - 1].estimated, self.knots[i - 1].seconds)
        return y + (b.seconds - y) * (estimated - x) / (b.estimated - x) if b.estimated > x else b.seconds

    def _beyond(self, estimated: float) -> float:
        last = self.knots[-1]
        x, y = (0.0, self.start) if len(self.knots) == 1 else (self.knots[-2].estimated, self.knots[-2].seconds)
        return last.seconds + (last.seconds - y) / (last.estimated - x) * (estimated - last.estimated)


def curve(measured: Iterable[Knot], starting: float) -> Curve | None:
    """Through what was measured; `starting` is estimated to be what it takes to begin. None where nothing was."""
    knots = _rising(_joined(sorted((k for k in measured if k.estimated > 0), key=lambda k: k.estimated)))
    if not knots:
        return None
    first = knots[0]
    share = starting / (starting + first.estimated)
    start = max(share * first.seconds, LEAST_START * first.seconds)
    if len(knots) > 1:  # no more than where the first two lead
        b = knots[1]
        along = first.seconds - (b.seconds - first.seconds) / (b.estimated - first.estimated) * first.estimated
        start = min(max(along, LEAST_START * first.seconds), start)
    return Curve(tuple(knots), start)


def _joined(knots: list[Knot]) -> list[Knot]:
    out: list[Knot] = []
    for k in knots:
        if out and k.estimated <= ALIKE * out[-1].estimated:
            out[-1] = _mean(out[-1], k)
        else:
            out.append(Knot(k.estimated, k.seconds, min(k.times, OFTEN)))
    return out


def _rising(knots: list[Knot]) -> list[Knot]:
    """Where more rows took less time, both are taken for one."""
    out: list[Knot] = []
    for k in knots:
        while out and k.seconds < out[-1].seconds:
            k = _mean(out.pop(), k)
        out.append(k)
    return out


def _mean(a: Knot, b: Knot) -> Knot:
    w, v = min(a.times, OFTEN), min(b.times, OFTEN)
    return Knot(
        (a.estimated * w + b.estimated * v) / (w + v), (a.seconds * w + b.seconds * v) / (w + v), a.times + b.times
    )
