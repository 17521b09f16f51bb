"""No view that executors keep takes what waits for it at a pace of its own: `deploy` refuses those that would."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from compiler.maintain.kept import Kept
from connectors.paced_states import Measured, Reached, Refresh, Taking


class NoPaces:
    def take(self, takings: Sequence[Taking]) -> NoReturn:
        raise NotImplementedError("no view that executors keep has paces")

    def finish(
        self, takings: Sequence[Taking], states: Collection[str], why: str, promised: Mapping[str, float]
    ) -> NoReturn:
        raise NotImplementedError("no view that executors keep has paces")

    def renew(self, states: Sequence[Kept], why: str, promised: Mapping[str, float]) -> NoReturn:
        raise NotImplementedError("no view that executors keep has paces")

    def note(self, view: str, text: str) -> NoReturn:
        raise NotImplementedError("no view that executors keep has paces")

    def large(self) -> frozenset[str]:
        return frozenset()

    def complete(self, states: Collection[str], lsn: int, at: float) -> NoReturn:
        raise NotImplementedError("no view that executors keep has paces")

    def waiting(self, logs: Collection[str]) -> dict[str, tuple[int, int]]:
        return {}

    def sizes(self) -> dict[str, int]:
        return {}

    def reached(self) -> dict[str, Reached]:
        return {}

    def beside_programs(self) -> float:
        return 0.0

    def measured(self) -> list[Measured]:
        return []

    def refreshes(self) -> list[Refresh]:
        return []

    def noted(self) -> dict[str, str]:
        return {}
