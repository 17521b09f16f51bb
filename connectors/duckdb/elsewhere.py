"""Mirrors that are no tables of the file: too large for it, and read by keys where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from compiler.maintain.program import STEPS, Statement
from connectors.duckdb.landing import Work
from connectors.staging import Staged


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


class Nowhere:
    """Every mirror is a table of the file."""

    mirrors: frozenset[str] = frozenset()

    def sizes(self) -> dict[str, int]:
        return {}

    def look_up(self, staged: Sequence[Staged], needed: Mapping[str, frozenset[str]]) -> None: ...

    def land(self, s: Staged, source: str, needed: frozenset[str]) -> list[Work]:
        raise KeyError(s.table.mirror)

    def fetch(self, wanted: Sequence[Statement]) -> None:
        raise KeyError([s.target for s in wanted])


def rounds(statements: Sequence[Statement], mirrors: frozenset[str]) -> Iterator[list[Statement]]:
    """The statements in an order in which fetches from these mirrors come together, as early as their keys are there:
    each by itself, or fetches to be made at once.

    Steps read states that nothing has touched yet, and what takes changes comes last, so that their order is free.
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
    yield from ([s] for s in statements if s.does not in STEPS)
