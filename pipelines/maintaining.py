"""The programs by which a warehouse's views are maintained: each is made once for what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from compiler.catalog import mirror_name
from compiler.maintain.again import beside, touched
from compiler.maintain.cohort import Cohort
from compiler.maintain.differentiate import Same, program
from compiler.maintain.fetch import fetched
from compiler.maintain.flush import flush
from compiler.maintain.paced import Path, whole
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from connectors.engine import Engine, Programs
from connectors.paced_states import Taking
from dialects.printer import Printer
from pipelines.folding import Folding

NONE: frozenset[str] = frozenset()
SAME: Same = frozenset()
Key = tuple[str, tuple[str, ...], frozenset[str], frozenset[str], frozenset[str], Same, bool]


class Maintaining:
    """`printed` gives an engine's printer."""

    def __init__(self, printed: Callable[[str], Printer]) -> None:
        self.printed = printed
        # by engine, views, changed tables, large mirrors, folded states, what is as it was, and leaving keys
        self.prepared: dict[Key, Prepared] = {}
        self.takings: dict[tuple[tuple[str, ...], str, frozenset[str], frozenset[str]], Taking] = {}  # for paced views
        self.folding = Folding()

    def forget(self) -> None:
        """The views are others by now."""
        self.prepared.clear()
        self.takings.clear()

    def batches(self, on: Engine, plans: list[ViewPlan]) -> Programs:
        """The programs of an engine's batches."""
        due = self.folding.due(on, plans)
        return lambda changed, same=SAME: self._prepared(on, plans, changed, due, same)

    def upqueries(self, on: Engine, plan: ViewPlan, leaving: bool) -> Programs:
        """The programs that fill the keys of a partial view that arrive, or dismiss those that are `leaving`."""
        return lambda changed, same=SAME: self._prepared(on, [plan], changed, NONE, SAME, leaving)

    def taking(self, on: Engine, cohort: Cohort, state: str, sources: Iterable[str]) -> Taking:
        """How a state of paced views takes what waits of some of its inputs."""
        large, some = on.paced.large(), frozenset(sources)
        key = (cohort.views, state, some, large)
        found = self.takings.get(key)
        if found is None:

            @cache
            def without(nothing: frozenset[str]) -> Prepared:
                p = fetched(flush(cohort.states, state, some, nothing), lambda t: mirror_name(t) in large)
                return self.printed(on.name).prepare(p)

            found = self.takings[key] = Taking(tuple(Path(x, state) for x in sorted(some)), without(NONE), without)
        return found

    def finishing(self, on: Engine, cohort: Cohort) -> list[Taking]:
        """How paced views are brought to the frontier."""
        return [self.taking(on, cohort, state, sources) for state, sources in whole(cohort.states)]

    def fold(self, on: Engine, plans: list[ViewPlan]) -> None:
        """Let states take what waits in their tails, where the engine can between batches."""
        if on.folds and (some := self.folding.some(on, plans)):
            on.fold(self._prepared(on, plans, NONE, some))

    def _prepared(
        self,
        on: Engine,
        plans: list[ViewPlan],
        changed: frozenset[str],
        folded: frozenset[str],
        same: Same = SAME,
        leaving: bool = False,
    ) -> Prepared:
        large = on.large() if changed else NONE
        key = (on.name, tuple(p.view for p in plans), changed, large, folded, same, leaving)
        found = self.prepared.get(key)
        if found is None:
            p = program(plans, changed, folded, same, leaving)
            p = fetched(p, lambda t: mirror_name(t) in large)
            anew = touched(plans, changed) if not any(p.asked and p.asked.name in changed for p in plans) else ()
            rest = beside(plans, changed, same) if anew else None
            found = self.prepared[key] = self.printed(on.name).prepare(p, anew, rest)
        return found
