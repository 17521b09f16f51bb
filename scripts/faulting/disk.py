"""A full disk, and files that are cut or gone: an error with a reason, or recovery; never a wrong answer."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from faulting.refusing import refuses
from faulting.scene import Bench, Scene
from faulting.watching import Watching

SIZE = {"duckdb": 48, "local": 48, "spark": 96}  # MB of the file system that is filled
Damage = Callable[[Path, random.Random], str]  # gives what it did, in words


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """A file system in memory at the folder; False where it cannot be mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    made = (
        os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True
        ).returncode
        == 0
    )
    try:
        yield made
    finally:
        if made:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def fill(folder: Path, left: int = 0) -> Path:
    """A file that takes what is free, except `left` bytes."""
    ballast = folder / "ballast"
    free = shutil.disk_usage(folder).free - left
    with ballast.open("wb") as f:
        try:
            for _ in range(max(free, 0) // 65536 + 1):
                f.write(bytes(65536))
        except OSError:
            pass
    return ballast


def full(bench: Bench) -> None:
    """While running, and while the first copy is made."""
    for when in ("while run is on", "at run --once", "at deploy"):
        with bench.scene(f"disk full, {when}") as s:
            s.project.do("teardown", "--yes")
            shutil.rmtree(s.project.warehouse, ignore_errors=True)
            with small_disk(s.project.warehouse, SIZE[bench.engine]) as made:
                if not made:
                    s.row.notes.append("skipped: a file system cannot be mounted here")
                    return
                _full(s, when)


def _full(s: Scene, when: str) -> None:
    if when == "at deploy":
        ballast = fill(s.project.warehouse, 200_000)
        got = s.project.do("deploy")
    else:
        s.must("deploy")
        run = s.start() if when == "while run is on" else None
        s.load.write(0.3)
        ballast = fill(s.project.warehouse)
        with Watching(s.project, s.load, s.row, status=2.0):
            s.load.write(3)
            if run is not None and not run.wait(30):
                s.row.notes.append("run goes on while the disk is full")
            got = run.end() if run is not None else s.project.do("run", "--once")
    s.row.injected += 1
    if got.code == 0 and when == "at deploy":
        s.row.fail("deploy exits 0 on a full disk")
    elif got.code != 0 and not got.refused:
        s.row.fail(f"no reason given: exit {got.code}, {got.reason}")
    elif got.code != 0 and not re.search("space|disk|full", got.reason):
        s.row.fail(f"the reason is another one: {got.reason}")
    else:
        s.row.notes.append(f"exit {got.code}: {got.reason if got.code else 'caught up'}")
    ballast.unlink()
    if when == "at deploy":
        s.must("deploy")
    s.recover("a full disk")


def targets(s: Scene) -> list[Path]:
    """Files of the warehouse, each kind once."""
    w = s.project.warehouse
    if s.project.engine == "duckdb":
        return [f for f in (w / "tidemark.duckdb", w / "tidemark.duckdb.wal", w / "deployment.json") if f.exists()]
    local = s.project.engine == "local"
    chosen = [w / "delta" / f for f in ("frontier.json", "states.json", "local.duckdb", "local.duckdb.wal")]
    for folder in ("mirror/item", "views/by_kind" if local else "state"):
        chosen += sorted((w / "delta" / folder).rglob("*.parquet"))[-1:]
        chosen += sorted((w / "delta" / folder).rglob("_delta_log/*.json"))[-1:]
    return [f for f in chosen if f.exists()]


def files(bench: Bench) -> None:
    """Cut at a random place, or removed, while stopped; after a kill the log of writes is there too."""
    for how, damage in DAMAGES.items():
        with bench.scene(f"file of the warehouse {how}") as s:
            chance = bench.chance(s.row.kind)
            kinds = {"duckdb": 3, "local": 7, "spark": 6}[bench.engine]
            for n in range(kinds if bench.options.quick else 3 * kinds if bench.engine != "spark" else kinds):
                _damage(s, damage, n, chance)


def _damage(s: Scene, damage: Damage, n: int, chance: random.Random) -> None:
    run = s.start()
    s.load.write(1)
    s.caught_up(run, 60)
    run.process.kill()
    run.end()
    s.load.write(0.3)
    found = targets(s)
    file = found[n % len(found)]
    name = (
        str(file.relative_to(s.project.warehouse))
        if s.project.engine == "duckdb"
        else file.name
        if file.parent.name == "delta"
        else file.suffix
    )
    name += f" {damage(file, chance)}"
    s.row.injected += 1
    refuses(s, name)


def _cut(file: Path, chance: random.Random) -> str:
    size = file.stat().st_size
    left = chance.choice([0, size - 1, chance.randrange(size), size // 2]) if size else 0
    os.truncate(file, left)
    return f"cut to {left:,} of {size:,} bytes"


def _removed(file: Path, chance: random.Random) -> str:
    file.unlink()
    return "removed"


DAMAGES: dict[str, Damage] = {"cut": _cut, "removed": _removed}
