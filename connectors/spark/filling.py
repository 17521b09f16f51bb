"""States come and go: filled from the mirrors as they are, published with their versions, and given up."""

from __future__ import annotations

import shutil
from typing import Any

import pyarrow as pa

from compiler.errors import CompilerBug
from compiler.maintain.asked import Asked
from compiler.maintain.kept import Kept
from compiler.maintain.plan import ViewPlan
from compiler.spelling.spark import type_name
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.recursion import Recursion


class Filling(Recursion):
    """A state is either published and listed in states.json, or neither read nor maintained."""

    def create_state(self, s: Kept) -> None:
        self._withdraw(s.name)
        self.healing.run(f'filling "{s.name}"', lambda: self._fill(s))
        reach("spark.filled")
        self.published.publish([f"state/{s.name}"])
        self._note(added=[s.name])

    def _fill(self, s: Kept) -> None:
        path, new = self.path / "state" / s.name, self.dropped.room(s.name)
        session = self.paced(self.spark)
        self._views([s.definition], {}, session)
        rounds = self.path / "loading" / s.name
        s = s.mapped(lambda r: self.unrolled(r, rounds, session))
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in s.columns)
        self.sql(
            f"CREATE {'' if new else 'OR REPLACE '}TABLE {mirror.path_name(path)} USING delta AS SELECT {casts} "
            f"FROM ({self.printer.contents(s)})"
        )
        shutil.rmtree(rounds, ignore_errors=True)

    def drop_state(self, name: str) -> None:
        self._withdraw(name)
        self.dropped.drop(name)

    def _withdraw(self, name: str) -> None:
        self._note(removed=[name])
        self.published.withdraw([f"state/{name}"])
        self.recent.forget()

    def size(self, state: str) -> tuple[int, int]:
        table = mirror.path_name(self.path / "state" / state)
        detail = self.sql(f"DESCRIBE DETAIL {table}").first()
        return int(self.sql(f"SELECT count(*) FROM {table}").first()[0]), int(detail["sizeInBytes"])

    def keys(self) -> set[str]:
        return set()

    def look_up(self, asked: Asked, wanted: pa.Table, at: Any = None) -> pa.Table:
        raise _not_partial(asked)

    def asked_for(self, asked: Asked, at: Any = None) -> pa.Table:
        raise _not_partial(asked)

    def weight(self, plan: ViewPlan) -> tuple[int, int]:
        raise _not_partial(plan.asked)

    def weights(self, plan: ViewPlan) -> pa.Table:
        raise _not_partial(plan.asked)

    def whole(self, plan: ViewPlan) -> str:
        raise _not_partial(plan.asked)

    def read_whole(self, plan: ViewPlan, at: Any = None) -> pa.Table:
        raise _not_partial(plan.asked)

    def set_aside(self, states: set[str]) -> None:
        self.pending.forget(states)
        for name in states:
            self.drop_state(name)


def _not_partial(asked: Asked | None) -> CompilerBug:
    return CompilerBug(f'"{asked.view if asked else ""}" is partial, and kept by the executors')
