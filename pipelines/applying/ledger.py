"""How far each engine is, and what is on its way: the one place where a frontier or an acknowledgement moves.

A transaction is *taken* off the stream, *given* to each engine, and *durable* in it. A frontier passes only what is
durable, nothing is taken while something taken was not given to every engine, and the source is told only of what
every engine holds. Each of these is checked here, and none is set anywhere else.
"""

from __future__ import annotations

import threading

from compiler.errors import TidemarkError
from connectors.postgres.connection import format_lsn


class FrontierUnsafe(TidemarkError):
    """A frontier was about to pass changes that are not in the engine: a bug, and the run ends rather than lose
    them."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "a frontier was about to pass changes that are not stored",
            detail=what,
            code="frontier_unsafe",
            hint="Run tidemark again: nothing was acknowledged. Please report this; it is a bug of Tidemark.",
        )


class Ledger:
    """LSNs by engine. `taken`: the end of the last transaction that was received; `given` and `durable`: of each
    engine's last."""

    def __init__(self, durable: dict[str, int]) -> None:
        self.durable = dict(durable)
        self.given = dict(durable)
        self.taken = self.frontier
        self.moved = threading.Condition()

    @property
    def frontier(self) -> int:
        """What every engine holds: as far as the source may be told."""
        return min(self.durable.values(), default=0)

    def take(self, end: int) -> None:
        """Transactions up to `end` were received."""
        if behind := {e: g for e, g in self.given.items() if g < self.taken}:
            e, g = min(behind.items())
            raise FrontierUnsafe(
                f"{e} was given changes up to {format_lsn(g)}, and {format_lsn(self.taken)} were received."
            )
        self.taken = max(self.taken, end)

    def give(self, engine: str, end: int) -> None:
        """`engine` has what was received up to `end`, in memory at least."""
        if end > self.taken:
            raise FrontierUnsafe(f"{engine} was given {format_lsn(end)}, which was not received.")
        self.given[engine] = max(self.given[engine], end)

    def applied(self, engine: str, end: int, stored: int) -> None:
        """The engine says that its frontier is `stored` after a batch that ends at `end`."""
        if stored < end:
            raise FrontierUnsafe(f"{engine} took a batch up to {format_lsn(end)}, and stands at {format_lsn(stored)}.")
        self._move(engine, stored)

    def outstanding(self, engine: str) -> bool:
        """Whether something was received that this engine does not hold."""
        return self.durable[engine] < max(self.given[engine], self.taken)

    def may_pass(self, engine: str, lsn: int) -> bool:
        """Whether nothing lies between the engine's frontier and `lsn`, up to which the source had nothing more for it.

        Raises FrontierUnsafe where something that was received is not stored.
        """
        if self.outstanding(engine):
            raise FrontierUnsafe(
                f"{engine} stands at {format_lsn(self.durable[engine])}, of {format_lsn(self.taken)} received."
            )
        return self.durable[engine] < lsn

    def passed(self, engine: str, lsn: int) -> None:
        """The engine's frontier was moved to `lsn` without a batch."""
        self.given[engine] = max(self.given[engine], lsn)
        self._move(engine, lsn)

    def again(self) -> None:
        """The stream begins anew from what is durable: the rest comes once more, and is given again."""
        self.given = dict(self.durable)
        self.taken = self.frontier

    def _move(self, engine: str, lsn: int) -> None:
        with self.moved:
            self.durable[engine] = max(self.durable[engine], lsn)
            self.moved.notify_all()
