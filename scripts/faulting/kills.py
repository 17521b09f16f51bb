"""SIGKILL of `run` at random moments of a writing workload."""

from __future__ import annotations

import signal
import time

from faulting.scene import Bench
from faulting.watching import Watching

LONGEST = {"duckdb": 1.2, "local": 2.5, "spark": 20.0}  # seconds after which the kill comes at the latest
BETWEEN = {"duckdb": 1, "local": 1, "spark": 5}  # kills after which all is compared


def kills(bench: Bench) -> None:
    """Each third one may come while it is still starting."""
    chance = bench.chance("kills")
    with bench.scene("SIGKILL of run at a random moment") as s, Watching(s.project, s.load, s.row):
        for n in range(bench.options.moments):
            with s.load.working(renaming=True):
                run = s.project.run()
                if n % 3 and not run.ready():
                    s.row.fail(f"kill {n}: run does not start: {run.end().reason}")
                    break
                time.sleep(chance.uniform(0, LONGEST[bench.engine]))
                early = run.ended
                got = run.end(signal.SIGKILL)
            s.row.injected += 1
            if early:
                s.row.fail(f"kill {n}: run had ended: {got.reason}")
            if n % BETWEEN[bench.engine] == 0 or n == bench.options.moments - 1:
                s.recover(f"kill {n}")
