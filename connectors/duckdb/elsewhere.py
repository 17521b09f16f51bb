"""Mirrors and states that are no tables of the file: too large for it, and read by keys where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from compiler.maintain.kept import Kept
from compiler.maintain.program import STEPS, Statement
from connectors.duckdb.landing import Work
from connectors.staging import Staged

Blaming = Callable[[Statement], AbstractContextManager[None]]


class Elsewhere(Protocol):
    """`base.<mirror>` is a view of each, which reads it whole."""

    @property
    def mirrors(self) -> frozenset[str]: ...

    def sizes(self) -> dict[str, int]:
        """About how many rows each has."""
        ...

    def look_up(self, staged: Sequence[Staged], needed: Mapping[str, frozenset[str]]) -> None:
        """The old images of tables that are about to land, of all at once. Rules read these columns, by the tables'
        names."""
        ...

    def land(self, s: Staged, source: str, needed: frozenset[str]) -> list[Work]:
        """As `landing.land`; the changes are kept beside what is elsewhere."""
        ...

    def fetch(self, wanted: Sequence[Statement]) -> None:
        """Make the temp tables of fetches, of all at once."""
        ...

    @property
    def states(self) -> frozenset[str]:
        """`state.<name>` is a view of each, which reads it whole."""
        ...

    def fill(self, s: Kept) -> bool:
        """Whether it has filled a state, in the caller's transaction: one that is not to come into the file at all."""
        ...

    def place(self, s: Kept) -> None:
        """A state was filled, in the file and in a transaction: where it is too large for it, it leaves."""
        ...

    def drop_state(self, name: str) -> None: ...

    def undone(self) -> None:
        """A transaction was rolled back."""
        ...

    def take(self, changes: Sequence[Statement], blaming: Blaming) -> int:
        """Changes of states that are elsewhere, of all at once; gives how many rows these take. What is done for one of
        them alone is done within `blaming` it."""
        ...


class Nowhere:
    """Every mirror and state is a table of the file."""

    mirrors: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()

    def sizes(self) -> dict[str, int]:
        return {}

    def look_up(self, staged: Sequence[Staged], needed: Mapping[str, frozenset[str]]) -> None: ...

    def land(self, s: Staged, source: str, needed: frozenset[str]) -> list[Work]:
        raise KeyError(s.table.mirror)

    def fetch(self, wanted: Sequence[Statement]) -> None:
        raise KeyError([s.target for s in wanted])

    def fill(self, s: Kept) -> bool:
        return False

    def place(self, s: Kept) -> None: ...

    def drop_state(self, name: str) -> None:
        raise KeyError(name)

    def undone(self) -> None: ...

    def take(self, changes: Sequence[Statement], blaming: Blaming) -> int:
        raise KeyError([s.target for s in changes])


def rounds(
    statements: Sequence[Statement], mirrors: frozenset[str], states: frozenset[str] = frozenset()
) -> Iterator[list[Statement]]:
    """The statements in an order in which fetches from these mirrors come together, as early as their keys are there,
    and so do changes of these states, as late as others let them: each by itself, or what is to be done at once.

    Steps read states that nothing has touched yet, and what takes changes comes last, so that their order is free. A
    change may read a log that another empties.
    """
    steps = [s for s in statements if s.does in STEPS]
    while steps:
        waiting: list[Statement] = []
        late: set[str] = set()  # what they will make
        for s in steps:
            if set(s.reads) & late or (s.fetch is not None and s.fetch.mirror in mirrors):
                waiting.append(s)
                late.add(s.target)
            else:
                yield [s]
        ready = [s for s in waiting if s.fetch is not None and s.fetch.mirror in mirrors and not set(s.reads) & late]
        assert ready or not waiting, "steps wait for each other"
        if ready:
            yield ready
        steps = [s for s in waiting if s not in ready]
    together: list[Statement] = []
    for s in (s for s in statements if s.does not in STEPS):
        if any(s.writes in t.reads or t.writes in s.reads for t in together):
            yield together
            together = []
        if s.target in states:
            together.append(s)
        else:
            yield [s]
    if together:
        yield together
