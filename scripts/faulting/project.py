"""A project in a folder, driven by the command line in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from faulting.compare import Difference, compare
from faulting.schema import OPTIONS
from faulting.server import tied

BATCH = {"spark": (20_000, "64MB")}  # rows and bytes of a batch: executors take seconds for each, whatever it has
SMALL = (400, "256KB")  # large transactions are applied in parts
LIMITS = {"duckdb": 120.0, "local": 120.0, "spark": 420.0}  # seconds that a command may take
STARTS = {"duckdb": 40.0, "local": 40.0, "spark": 180.0}  # seconds in which a run must answer
BOUND = 40.0  # seconds in which reading commands return, whatever the source does
WAITS = {"duckdb": BOUND, "local": BOUND, "spark": 120.0}  # the same of those that wait for the batch at work


class Unreadable(Exception):
    """The views could not be read."""

    def __init__(self, told: Told) -> None:
        super().__init__(f"export: {told.reason}")
        self.told = told


@dataclass
class Told:
    """What a command said, and how it ended; `code` is None when it did not end in time."""

    code: int | None
    text: str
    seconds: float

    @property
    def reason(self) -> str:
        """Its error and detail, as one line."""
        lines = [
            x for x in self.text.splitlines() if x.startswith(("error:", "detail:"))
        ] or self.text.strip().splitlines()[-1:]
        return " ".join(lines)[:260] or f"exit {self.code}, nothing said"

    @property
    def refused(self) -> bool:
        """An error with a reason, and not a traceback."""
        return self.code not in (0, None) and "error:" in self.text and "Traceback" not in self.text

    @property
    def unknown(self) -> bool:
        """The command, or its option, does not exist yet."""
        return self.code == 2 and ("No such option" in self.text or "No such command" in self.text)


class Run:
    """`tidemark run` as a process."""

    def __init__(self, project: Project, failpoints: str = "") -> None:
        self.project = project
        self.said: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the object
        self.process = subprocess.Popen(
            [*tied(), *project.command("run")],
            env=environment(failpoints),
            text=True,
            stdout=self.said,
            stderr=self.said,
            cwd=project.home,
            start_new_session=True,
        )

    @property
    def listening(self) -> bool:
        """Its own run.json is there."""
        try:
            return bool(json.loads((self.project.warehouse / "run.json").read_text())["pid"] == self.process.pid)
        except (OSError, ValueError):
            return False

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def ready(self, seconds: float | None = None) -> bool:
        """Whether it answers in time; False also when it ended."""
        deadline = time.monotonic() + (seconds or STARTS[self.project.engine])
        while not self.listening:
            if self.ended or time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def wait(self, seconds: float) -> bool:
        """Whether it ends by itself in time."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, how: signal.Signals = signal.SIGTERM, seconds: float | None = None) -> Told:
        """Stopped by a signal, or found ended; killed where it does not stop in time."""
        begun = time.monotonic()
        if not self.ended:
            self.process.send_signal(how)
        in_time = self.wait(seconds or LIMITS[self.project.engine])
        if not in_time:
            self.process.kill()
            self.process.wait()
        if not self.said.closed:
            self.said.seek(0)
            self.text = self.said.read()
            self.said.close()
        return Told(self.process.returncode if in_time else None, self.text, time.monotonic() - begun)


def environment(failpoints: str = "") -> dict[str, str]:
    return {**os.environ, "TIDEMARK_FAILPOINTS": failpoints, "NO_COLOR": "1"}


class Project:
    """tidemark.toml and views/*.sql under `home`; `reach` is the DSN that Tidemark uses, `dsn` the source itself."""

    def __init__(
        self, home: Path, dsn: str, views: dict[str, str], engine: str = "duckdb", reach: str = "", memory: str = "none"
    ) -> None:
        self.home, self.dsn, self.engine, self.views = home, dsn, engine, dict(views)
        self.warehouse = home / "warehouse"
        (home / "views").mkdir(parents=True)
        on = "spark" if engine == "local" else engine
        rows, size = BATCH.get(engine, SMALL)
        (home / "tidemark.toml").write_text(
            f'[source]\ndsn = "{reach or dsn}"\n\n[defaults]\nengine = "{on}"\n\n[duckdb]\nindex_rows = 0\n\n'
            f'[spark]\nlocal_memory = "{memory}"\n\n[batch]\nrows = {rows}\nmemory = "{size}"\n'
        )  # every mirror is large enough for an index
        self.add({})
        self.runs: list[Run] = []

    @property
    def file(self) -> Path:
        """Of DuckDB, where the engine has one."""
        return self.warehouse / ("delta/local.duckdb" if self.engine == "local" else "tidemark.duckdb")

    def add(self, views: dict[str, str]) -> None:
        self.views |= views
        for name, query in self.views.items():
            options = f" WITH ({OPTIONS[name]})" if name in OPTIONS else ""
            text = f'CREATE MATERIALIZED VIEW "{name}"{options} AS\n{query};\n'
            (self.home / "views" / f"{name}.sql").write_text(text)

    def drop(self, views: dict[str, str]) -> None:
        for name in views:
            del self.views[name]
            (self.home / "views" / f"{name}.sql").unlink()

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "pipelines.cli", *args]

    def do(self, *args: str, failpoints: str = "", seconds: float | None = None) -> Told:
        """A command, to its end or until the time is up."""
        begun = time.monotonic()
        try:
            done = subprocess.run(
                self.command(*args),
                cwd=self.home,
                env=environment(failpoints),
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds or LIMITS[self.engine],
            )
        except subprocess.TimeoutExpired as e:
            said = e.stdout.decode(errors="replace") if isinstance(e.stdout, bytes) else e.stdout or ""
            return Told(None, f"{said}\nerror: no end within {e.timeout:.0f} s", time.monotonic() - begun)
        return Told(done.returncode, done.stdout, time.monotonic() - begun)

    def run(self, failpoints: str = "") -> Run:
        self.runs = [r for r in self.runs if not r.ended]
        self.runs.append(Run(self, failpoints))
        return self.runs[-1]

    def close(self) -> None:
        for r in self.runs:
            r.end(signal.SIGKILL)

    def compare(self) -> Difference:
        """Against the source at rest, with nobody in the warehouse."""
        if self.engine != "spark":
            return compare(self.dsn, self.warehouse, self.views)
        with tempfile.TemporaryDirectory() as folder:
            got = self.do("export", "--to", folder)
            if got.code != 0:
                raise Unreadable(got)
            return compare(self.dsn, self.warehouse, self.views, Path(folder))
