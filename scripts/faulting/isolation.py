"""Polls of several views in one statement, by several readers, while transactions move money between tables."""

from __future__ import annotations

from contextlib import ExitStack

from faulting.scene import Bench
from faulting.watching import Watching

READERS = 4


def isolation(bench: Bench) -> None:
    """No fault but time: ten thousand polls on DuckDB."""
    wanted = 500 if bench.options.quick else 10_000 if bench.engine != "spark" else 100
    with bench.scene("none: polls of two views at once") as s:
        run = s.start()
        with ExitStack() as stack:
            for _ in range(READERS):
                stack.enter_context(Watching(s.project, s.load, s.row, every=0.002))
            while s.row.polls < wanted and not run.ended:
                s.load.write(1)
        told = run.end()
        if told.code != 0:
            s.row.fail(f"run ended with {told.code}: {told.reason}")
        s.recover("the polls")
