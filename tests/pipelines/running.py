"""`tidemark run` as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.project import Project


def until(true: Callable[[], bool], what: str, seconds: float = 20.0) -> None:
    """Poll until `true`; fails with `what` at the deadline."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.02)


def start(p: Project) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "run"],
        cwd=p.home,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def listening(p: Project, process: subprocess.Popen[str]) -> bool:
    """Its own run.json is there: one that a killed process left behind does not count."""
    assert process.poll() is None, f"run ended with {process.returncode}: {process.communicate()[1]}"
    try:
        return bool(json.loads((p.config.warehouse_path / "run.json").read_text())["pid"] == process.pid)
    except (FileNotFoundError, ValueError):
        return False


@contextmanager
def running(p: Project, batch: float = 20, how: signal.Signals = signal.SIGTERM) -> Iterator[subprocess.Popen[str]]:
    """A pipeline that answers; stopped at the end if it still runs. `batch`: the seconds that one may take."""
    process = start(p)
    try:
        until(lambda: listening(p, process), "run starts")
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.communicate(timeout=batch)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
