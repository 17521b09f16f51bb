"""The server does not answer: its processes, or the one that sends the stream, are stopped for a minute."""

from __future__ import annotations

import time

from faulting.project import WAITS
from faulting.scene import Bench, Scene
from faulting.watching import Watching, judge_status

FROZEN = 60.0


def frozen(bench: Bench) -> None:
    for kind, name in (("walsender", "the walsender"), ("", "every process of the server")):
        with bench.scene(f"SIGSTOP of {name}") as s:
            _freeze(s, kind, 12.0 if bench.options.quick else FROZEN)


def _freeze(s: Scene, kind: str, seconds: float) -> None:
    run, bound = s.start(), WAITS[s.project.engine]
    with Watching(s.project, s.load, s.row), s.load.working():
        time.sleep(1)
        with s.server.frozen(kind) as processes:
            s.row.injected += 1
            if not processes:
                s.row.fail("there is nothing to stop")
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                judge_status(s.project, s.load, s.row)
                got = s.project.do("query", "SELECT n FROM marks", "--wait", seconds=bound)
                if got.code is None:
                    s.row.fail(f"query --wait did not return in {bound:.0f} s")
                elif got.code != 0 and not got.refused:
                    s.row.fail(f"query --wait: {got.reason}")
        time.sleep(1)
    if not s.caught_up(run, 90):
        got = run.end()
        s.row.fail(f"run ended with {got.code}: {got.reason}" if got.code else f"run does not catch up: {got.reason}")
    got = run.end()
    s.recover("the stop")
