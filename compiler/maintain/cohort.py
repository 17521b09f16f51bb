"""Paced views that share states: what one takes waits for the others, and readers see all of them move at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.maintain.kept import Kept
from compiler.maintain.plan import ViewPlan, states_of


@dataclass(frozen=True)
class Cohort:
    """Paced views, none of which shares a state with one that is not among them.

    A state that readers of one view see is taken when that view is finished and at no other time, and a view is
    finished with all that is below it. So they are finished together, when the first of them has to be."""

    plans: tuple[ViewPlan, ...]

    @property
    def views(self) -> tuple[str, ...]:
        return tuple(p.view for p in self.plans)

    @property
    def states(self) -> list[Kept]:
        return states_of(list(self.plans))

    @property
    def shown(self) -> frozenset[str]:
        """The states that readers of any of them read, by name."""
        return frozenset().union(*(p.shown for p in self.plans))

    @property
    def tables(self) -> frozenset[str]:
        return frozenset().union(*(p.tables for p in self.plans))

    @property
    def lag(self) -> float:
        """The seconds that all of them may lag."""
        return min(p.lag.seconds for p in self.plans if p.lag is not None)


def cohorts(plans: Iterable[ViewPlan]) -> list[Cohort]:
    """Those of `plans` that are paced, by what they share."""
    paced = [p for p in plans if p.lag is not None]
    of, owner = list(range(len(paced))), dict[str, int]()  # each one's cohort, and of each state the first that has it
    for i, p in enumerate(paced):
        for s in p.states:
            one, other = sorted((of[i], of[owner.setdefault(s.name, i)]))
            of = [one if c == other else c for c in of]
    return [Cohort(tuple(p for p, c in zip(paced, of, strict=True) if c == found)) for found in sorted(set(of))]
