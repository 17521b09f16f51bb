"""What taking paths took lately, by how many rows waited; what was longer ago counts less.

It is kept in memory, and written when a view is finished: one that is taken a hundred times in between is not made
slower by it. What is lost with a process is measured again.
"""

from __future__ import annotations

from collections.abc import Iterable

from compiler.maintain.paced import Path
from connectors.paced_states import Measured, Taken

FADES = 0.8  # of what was measured, with each new time
FADED = 0.05  # of a time, which counts no more
BEGINNING = 0.006  # seconds that a transaction takes beside its programs, until that is known


def _size(m: Measured) -> int:
    """The length in bits of the number of rows that waited at a time."""
    return round(m.rows / m.times).bit_length()


class Times:
    """`beside`: the seconds of a transaction that no program took."""

    def __init__(self, known: Iterable[Measured]) -> None:
        self.by_paths: dict[tuple[Path, ...], dict[int, Measured]] = {}
        self.beside = BEGINNING
        for m in known:
            self.by_paths.setdefault(m.paths, {})[_size(m)] = m

    def add(self, paths: tuple[Path, ...], t: Taken) -> None:
        new = Measured(paths, 1.0, tuple(map(float, t.each)), t.seconds)
        before = {size: _sum(m, FADES) for size, m in self.by_paths.get(paths, {}).items() if m.times * FADES >= FADED}
        size = _size(new)
        self.by_paths[paths] = before | {size: _sum(new, 1.0, before.get(size))}

    def transaction(self, seconds: float) -> None:
        """One that took so many seconds beside its programs."""
        self.beside = FADES * self.beside + (1 - FADES) * max(seconds, 0.0)

    def all(self) -> list[Measured]:
        return [m for of in list(self.by_paths.values()) for m in of.values()]


def _sum(m: Measured, counts: float, more: Measured | None = None) -> Measured:
    """What was measured, counting so much, and more."""
    each = [counts * n for n in m.each]
    if more is None:
        return Measured(m.paths, counts * m.times, tuple(each), counts * m.seconds)
    each = [a + b for a, b in zip(each, more.each, strict=True)]
    return Measured(m.paths, counts * m.times + more.times, tuple(each), counts * m.seconds + more.seconds)
