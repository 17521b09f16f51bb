"""What a fault is done to: a database with the workload, and a project that is deployed over it."""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from faulting import schema
from faulting.project import Project, Run, Told
from faulting.result import Row
from faulting.server import OwnServer
from faulting.workload import Workload

PAUSES = {"spark": 0.2}  # seconds between transactions, where a batch takes seconds, so that what waits is caught up


@dataclass
class Options:
    """What was asked for on the command line."""

    engine: str = "duckdb"
    moments: int = 300
    seed: int = 1
    quick: bool = False
    trials: int = 0  # of failpoints, drawn from all; 0: all of them
    only: str = ""
    points: str = ""  # parts of the failpoints' names; "": all


@dataclass
class Bench:
    """The server that scenes share, and where projects are."""

    options: Options
    server: OwnServer
    folder: Path
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    rows: list[Row] = field(default_factory=list)  # one for each scene, in order

    @property
    def engine(self) -> str:
        """What is done alike: `mixed` is `local` with less memory."""
        return "local" if self.options.engine == "mixed" else self.options.engine

    @property
    def memory(self) -> str:
        """What the driver may keep of tables on Spark."""
        return {"local": "2GB", "mixed": "96KB"}.get(self.options.engine, "none")

    def chance(self, kind: str) -> random.Random:
        return random.Random(f"{self.options.seed} {kind}")

    @contextmanager
    def scene(
        self,
        kind: str,
        *,
        proxy: int = 0,
        server: OwnServer | None = None,
        extra: tuple[str, ...] = (),
        views: dict[str, str] | None = None,
    ) -> Iterator[Scene]:
        """`proxy`: the port through which Tidemark reaches the server; `extra`: statements before the deploy."""
        at, n = server or self.server, next(self.numbers)
        name = f"faults_{n}"
        dsn = at.create(name)
        with psycopg.connect(dsn, autocommit=True) as c:
            for s in (*schema.SCHEMA, *extra):
                c.execute(s.encode())
        home = self.folder / f"{n}"
        project = Project(
            home,
            dsn,
            {**schema.views(self.engine), **(views or {})},
            self.engine,
            at.dsn(name, proxy) if proxy else "",
            self.memory,
        )
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, home, ignore_errors=True)
            stack.callback(at.drop, name)
            stack.callback(project.close)
            load = stack.enter_context(
                Workload(dsn, self.chance(kind).randrange(1 << 32), PAUSES.get(self.engine, 0.01))
            )
            scene = Scene(self, project, load, Row(kind), at)
            self.rows.append(scene.row)
            scene.must("deploy")
            try:
                yield scene
            except Failed:
                pass  # the row tells
            except Exception as e:
                scene.row.fail(f"{type(e).__name__}: {str(e)[:200]}")
                sys.excepthook(type(e), e, e.__traceback__)
            finally:
                scene.row.committed += load.rows


class Failed(Exception):
    """A command that had to work did not; the kind of fault ends here."""


@dataclass
class Scene:
    bench: Bench
    project: Project
    load: Workload
    row: Row
    server: OwnServer

    def must(self, *args: str) -> Told:
        got = self.project.do(*args)
        if got.code != 0:
            self.row.fail(f"{' '.join(args)}: {got.reason}")
            raise Failed(f"{' '.join(args)}: {got.reason}")
        return got

    def start(self) -> Run:
        run = self.project.run()
        if not run.ready():
            got = run.end()
            self.row.fail(f"run does not start: {got.reason}")
            raise Failed(got.reason)
        return run

    def equal(self, after: str) -> bool:
        """Whether views and mirrors are as the source; what differs is counted."""
        d = self.project.compare()
        self.row.lost += d.lost
        self.row.doubled += d.doubled
        self.row.notes += [f"after {after}: {w}" for w in d.where[:3]]
        return not d.where

    def recover(self, after: str) -> bool:
        """By `run --once`: whether it works, and all is equal then. Anew from the start where it does not."""
        got = self.project.do("run", "--once")
        if got.code != 0:
            self.row.fail(f"after {after}, run --once: {got.reason}")
            self.anew()
            return False
        if self.equal(after):
            return True
        self.anew()  # so that one difference is counted once
        return False

    def anew(self) -> None:
        """Whatever is there is given up: the workload goes on with a first copy."""
        self.project.close()
        self.project.do("teardown", "--yes")
        shutil.rmtree(self.project.warehouse, ignore_errors=True)
        self.must("deploy")

    def resync(self, after: str) -> bool:
        """By the way out that an error offers: whether it works, and all is equal then."""
        got = self.project.do("deploy", "--resync")
        if got.refused and "teardown --yes" in got.text:  # it says what does help
            self.row.notes.append(f"after {after}, deploy --resync is refused, and teardown is offered")
            self.must("teardown", "--yes")
            got = self.project.do("deploy")
        if got.code != 0:
            why = "is not there" if got.unknown else got.reason
            self.row.fail(f"after {after}, deploy --resync: {why}")
            self.anew()
            return False
        return self.recover(f"{after} and deploy --resync")

    def caught_up(self, run: Run, seconds: float) -> bool:
        """Whether the views of the running pipeline show the source's last transaction in time."""
        from faulting.watching import marked

        with psycopg.connect(self.project.dsn) as c:
            row = c.execute("SELECT n FROM mark").fetchone()
        deadline = time.monotonic() + seconds
        while not run.ended and time.monotonic() < deadline:
            shown = marked(self.project)
            if row is not None and shown == row[0]:
                return True
            time.sleep(0.2)
        return False


@contextmanager
def bench(options: Options) -> Iterator[Bench]:
    folder = Path(tempfile.mkdtemp(prefix="tidemark-faults-"))
    try:
        with OwnServer() as server:
            yield Bench(options, server, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
