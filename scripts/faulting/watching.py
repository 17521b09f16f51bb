"""Readers beside a running pipeline: is part of a transaction seen, is what status says of freshness true."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress

from faulting.project import BOUND, Project
from faulting.result import Row
from faulting.schema import TOTAL, WHOLE
from faulting.workload import Workload
from pipelines.asking.client import RemoteReader, connect_running

GRACE = 1.0  # seconds by which status may be wrong


class Watching:
    """Polls from threads of its own, within a block; what it finds goes into the row."""

    def __init__(self, project: Project, load: Workload, row: Row, every: float = 0.02, status: float = 0.0) -> None:
        self.project, self.load, self.row = project, load, row
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._poll, args=(every,), daemon=True)]
        if status:
            self.threads.append(threading.Thread(target=self._ask, args=(status,), daemon=True))

    def __enter__(self) -> Watching:
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for t in self.threads:
            t.join(2 * BOUND)

    def _poll(self, every: float) -> None:
        while not self.stop.is_set():
            with suppress(OSError, ValueError):  # the pipeline went away, or was not there yet
                running = connect_running(self.project.warehouse)
                if running is not None:
                    running.sock.settimeout(BOUND)
                    with running:
                        self._read(running, every)
            self.stop.wait(0.1)

    def _read(self, running: RemoteReader, every: float) -> None:
        from compiler.errors import TidemarkError

        while not self.stop.wait(every):
            try:
                got = running.query(WHOLE).to_pylist()[0]
            except TidemarkError as e:
                if e.code != "stopped" and not self.stop.wait(2) and answers(self.project):
                    self.row.fail(f"a poll was refused: {e.message} {e.detail}"[:200])
                return
            self.row.polls += 1
            if any(v is None or int(v) != TOTAL for v in got.values()):
                self.row.torn += 1
                self.row.notes.append(f"half shown: {got} instead of {TOTAL}")

    def _ask(self, every: float) -> None:
        while not self.stop.wait(every):
            judge_status(self.project, self.load, self.row)


def answers(project: Project) -> bool:
    """Whether a pipeline runs; one that is just ending may refuse a poll."""
    running = connect_running(project.warehouse)
    if running is not None:
        running.sock.close()
    return running is not None


def marked(project: Project) -> int | None:
    """The number of the last transaction that the views show, as `tidemark query` says."""
    got = project.do("query", "SELECT n FROM marks", "--format", "json", seconds=BOUND)
    if got.code != 0:
        return None
    return max((json.loads(line)["n"] for line in got.text.splitlines() if line.startswith("{")), default=0)


def judge_status(project: Project, load: Workload, row: Row, when: str = "beside a run") -> bool:
    """Whether status answered. Called fresh: a commit from before the age it gives is not in a view read later."""
    begun = time.time()
    got = project.do("status", "--json", seconds=BOUND)
    row.asked += 1
    if got.code is None:
        row.fail(f"status did not return in {BOUND:.0f} s")
        return False
    if got.code != 0:
        if not got.refused:
            row.fail(f"status: {got.reason}")
        return False
    told = json.loads(got.text[got.text.index("{") : got.text.rindex("}") + 1])
    view = next(v for v in told["views"] if v["view"] == "marks")
    age = view["stale_seconds"]
    shown = marked(project)
    if shown is None or age is None:
        return True
    claimed = begun if view["stale_bytes"] == 0 else begun - age
    since = load.missing(shown, claimed - GRACE)
    if since is not None:
        row.fresh += 1
        row.notes.append(
            f"called fresh, {when}: status said {age} s and {view['stale_bytes']} bytes; "
            f"a commit {begun - since:.1f} s before is not shown"
        )
    return True
