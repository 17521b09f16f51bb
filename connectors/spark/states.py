"""States come and go: filled from the mirrors as they are, published with their versions, and given up."""

from __future__ import annotations

import shutil

from compiler.maintain.kept import Kept
from compiler.spelling.spark import type_name
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.recursion import Recursion
from connectors.spark.store import Store


class States:
    """A state is either published and listed in states.json, or neither read nor maintained."""

    def __init__(self, store: Store, recursion: Recursion) -> None:
        self.store, self.recursion = store, recursion

    def create(self, s: Kept) -> None:
        self._withdraw(s.name)
        self.store.healing.run(f'filling "{s.name}"', lambda: self._fill(s))
        reach("spark.filled")
        self.store.published.publish([f"state/{s.name}"])
        self.store.note(added=[s.name])

    def _fill(self, s: Kept) -> None:
        path, new = self.store.path / "state" / s.name, self.store.dropped.room(s.name)
        session = self.store.paced(self.store.spark)
        self.store.views([s.definition], {}, session)
        rounds = self.store.path / "loading" / s.name
        s = s.mapped(lambda r: self.recursion.unrolled(r, rounds, session))
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in s.columns)
        self.store.sql(
            f"CREATE {'' if new else 'OR REPLACE '}TABLE {mirror.path_name(path)} USING delta AS SELECT {casts} "
            f"FROM ({self.store.printer.contents(s)})"
        )
        shutil.rmtree(rounds, ignore_errors=True)

    def drop(self, name: str) -> None:
        self._withdraw(name)
        self.store.dropped.drop(name)

    def _withdraw(self, name: str) -> None:
        self.store.note(removed=[name])
        self.store.published.withdraw([f"state/{name}"])
        self.store.recent.forget()

    def size(self, state: str) -> tuple[int, int]:
        table = mirror.path_name(self.store.path / "state" / state)
        detail = self.store.sql(f"DESCRIBE DETAIL {table}").first()
        return int(self.store.sql(f"SELECT count(*) FROM {table}").first()[0]), int(detail["sizeInBytes"])

    def set_aside(self, states: set[str]) -> None:
        self.store.pending.forget(states)
        for name in states:
            self.drop(name)
