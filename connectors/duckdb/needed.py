"""Running a program without the statements that have nothing to do, because what they read came out empty."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compiler.maintain.program import STEPS, Statement


class Needed:
    """Of one batch. `run` runs a statement and gives how many rows it made; `nothing` names what is empty from the
    start."""

    def __init__(self, run: Callable[[Statement], int], nothing: Iterable[str] = ()) -> None:
        self.execute, self.nothing = run, set(nothing)
        self.put_off: dict[str, Statement] = {}  # what would make an empty table, should somebody read it

    def has_work(self, s: Statement) -> bool:
        """Whether it may have something to do; where not, it is put off."""
        if not any(v <= self.nothing for v in s.void):
            return True
        self.nothing.add(s.target)
        self.put_off[s.target] = s
        return False

    def run(self, s: Statement) -> None:
        """A statement, where it has something to do."""
        if self.has_work(s):
            self.ready(s)
            self.count(s, self.execute(s))

    def ready(self, s: Statement) -> None:
        """Make what it reads and was put off."""
        for name in s.reads:
            if (late := self.put_off.pop(name, None)) is not None:
                self.ready(late)
                self.execute(late)

    def count(self, s: Statement, rows: int) -> None:
        """It was run, and made so many rows."""
        if not rows and s.does in STEPS:
            self.nothing.add(s.target)
