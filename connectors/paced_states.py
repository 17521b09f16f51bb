"""What an engine promises of states that take what waits for them at paces of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler.maintain.kept import Kept
from compiler.maintain.paced import Path
from compiler.maintain.program import Prepared


@dataclass(frozen=True)
class Taking:
    """How a state takes what waits of some of its inputs: paths of one state, by their sources.

    `prepared` is the program that takes all of them. `without` gives the one for when nothing waits of some inputs, by
    their names: it has no terms for them."""

    paths: tuple[Path, ...]
    prepared: Prepared
    without: Callable[[frozenset[str]], Prepared]


@dataclass(frozen=True)
class Taken:
    """What one program took of what waited: rows of each path, and the seconds that it ran."""

    each: tuple[int, ...]
    seconds: float

    @property
    def rows(self) -> int:
        return sum(self.each)


@dataclass(frozen=True)
class Measured:
    """What taking some paths of a state together took lately, where about as many rows waited: `times`, with so many
    rows of each and seconds in all."""

    paths: tuple[Path, ...]
    times: float
    each: tuple[float, ...]
    seconds: float

    @property
    def rows(self) -> float:
        return sum(self.each)


def whatever_waited(measured: Iterable[Measured]) -> list[Measured]:
    """Of the same paths, all together."""
    out: dict[tuple[Path, ...], Measured] = {}
    for m in measured:
        if (b := out.get(m.paths)) is not None:
            each = tuple(x + y for x, y in zip(b.each, m.each, strict=True))
            m = Measured(m.paths, b.times + m.times, each, b.seconds + m.seconds)
        out[m.paths] = m
    return list(out.values())


@dataclass(frozen=True)
class Reached:
    """Of a state the LSN at which it was finished last, when, in seconds since the epoch, and how many seconds it took
    to fill it."""

    lsn: int
    at: float
    filled: float


@dataclass(frozen=True)
class Refresh:
    """A paced view finished: brought to the frontier `lsn`, at a time in seconds since the epoch. `waited`: how many
    rows were taken; `promised`: how many seconds that was to take at most, 0 where nothing was promised; `why`: lag,
    pace, asked, or probe, to learn what few rows take."""

    view: str
    lsn: int
    at: float
    why: str
    waited: int
    seconds: float
    promised: float


class PacedStates(Protocol):
    """Of one engine."""

    def take(self, takings: Sequence[Taking]) -> list[Taken]:
        """Run them in their order, without those of which nothing waits; durable on return, nothing on failure."""
        ...

    def finish(
        self, takings: Sequence[Taking], states: Collection[str], why: str, promised: Mapping[str, float]
    ) -> list[Refresh]:
        """The same for all that waits for some views: their `states` are at the frontier then. `promised`: of each view
        the seconds that this was to take at most."""
        ...

    def renew(self, states: Sequence[Kept], why: str, promised: Mapping[str, float]) -> list[Refresh]:
        """Fill the states of some views anew from the mirrors as they are, in place of finishing them."""
        ...

    def large(self) -> frozenset[str]:
        """The mirrors of which what is taken reads by keys."""
        ...

    def complete(self, states: Collection[str], lsn: int, at: float) -> None:
        """Note that nothing waited for them at this frontier and time."""
        ...

    def waiting(self, logs: Collection[str]) -> dict[str, tuple[int, int]]:
        """Of each log, how many rows come and how many go."""
        ...

    def sizes(self) -> dict[str, int]:
        """About how many rows each mirror has."""
        ...

    def reached(self) -> dict[str, Reached]:
        """Of each state that is paced."""
        ...

    def measured(self) -> list[Measured]: ...

    def beside_programs(self) -> float:
        """The seconds that a transaction of `take` or `finish` takes beside its programs, as it was of late."""
        ...

    def refreshes(self) -> list[Refresh]:
        """When views were finished, the last ones of each."""
        ...

    def note(self, view: str, text: str) -> None:
        """Remember what was planned for a view."""
        ...

    def noted(self) -> dict[str, str]:
        """What was planned, by view."""
        ...
