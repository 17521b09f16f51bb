"""Every failpoint, by kill and by an error, at a random time that it is passed, in a command that passes it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import psycopg

from connectors.failpoints import NAMES
from faulting import commands
from faulting.scene import Bench, Failed, Scene
from faulting.schema import BULKS, FILL_BULK

COMMANDS = {  # by the name, or its first part: what may pass it
    "capture": ("run", "once", "verify"),
    "duckdb": ("run", "once", "verify"),
    "duckdb.filling": ("beside",),
    "duckdb.filled": ("beside",),
    "duckdb.catching_up": ("beside",),
    "duckdb.folding": ("rest",),
    "duckdb.folded": ("rest",),
    "duckdb.taking": ("run", "once", "verify"),
    "duckdb.taken": ("run", "once", "verify"),
    "spark": ("run", "once"),
    "spark.filled": ("deploy",),
    "local": ("run", "once", "deploy"),
    "local.rebuilt": ("once", "run"),
    "copies": ("run", "once"),
    "ask": ("ask",),
    "snapshot": ("deploy", "redeploy", "verify", "resync", "beside"),
    "snapshot.range": ("deploy", "resumed"),
    "deploy": ("deploy", "beside"),
    "deploy.live": ("deploy",),
    "deploy.met": ("resumed",),
    "arriving": ("beside",),
    "redeploy": ("redeploy", "beside"),
    "redeploy.met": ("beside",),
    "redeploy.adopted": ("beside",),
    "resync": ("resync",),
}
REWRITES = (
    "duckdb.rewrite",
    "duckdb.rewritten",
    "duckdb.tail",
    "duckdb.tail_folded",
    "duckdb.summing",
    "duckdb.summed",
)
OTHERS = {  # of an engine, those that it does not pass; nobody copies views to a store here
    "duckdb": ("spark.", "local.", "copies."),
    "local": ("spark.", "copies."),
    "spark": ("duckdb.", "local.", "ask.", "copies."),
}
ROUNDS = ("local.frontier", "local.cleared")  # passed every two seconds
LOST = "local.rebuilt"  # passed where the local file is gone
PART = "duckdb.part"  # passed in a transaction that is applied in parts


@dataclass
class Trial:
    """One failpoint in one command: how it was to strike, and whether it did."""

    name: str
    action: str
    command: str
    hit: int
    reached: bool = False

    @property
    def setting(self) -> str:
        return f"{self.name}={self.action}:{self.hit}"

    def __str__(self) -> str:
        return f"{self.setting} in {self.command}"


def drawn(bench: Bench, chance: random.Random) -> list[Trial]:
    """Of each name and action, one trial in its first command, and one in one of the others."""
    out = []
    asked = {n for n in bench.options.points.split(",") if n}
    for name in sorted(NAMES):
        first, *rest = COMMANDS.get(name) or COMMANDS[name.split(".")[0]]
        if name.startswith(OTHERS[bench.engine]) or (asked and name.split(".")[0] not in asked):
            continue
        for action in ("kill", "raise"):
            chosen = [first] if not rest else [first, *(rest if bench.engine != "spark" else [chance.choice(rest)])]
            for command in chosen:
                often = command == "run" and name not in (*REWRITES, LOST, "spark.compact")
                rare = bench.engine == "spark" or name in ROUNDS
                most = (2 if rare else 12) if often else 3 if name == "snapshot.chunk" else 1
                out.append(Trial(name, action, command, chance.randint(1, most)))
    return (
        sorted(chance.sample(out, min(bench.options.trials, len(out))), key=lambda t: t.name)
        if bench.options.trials
        else out
    )


def points(bench: Bench) -> None:
    """A row for each first part of the names."""
    trials = drawn(bench, bench.chance("failpoints"))
    for part in dict.fromkeys(t.name.split(".")[0] for t in trials):
        mine = [t for t in trials if t.name.split(".")[0] == part]
        _part(bench, part, mine)


def _part(bench: Bench, part: str, trials: list[Trial]) -> None:
    bulk = any(t.name in REWRITES for t in trials)
    with bench.scene(f"failpoints {part}.*", extra=(FILL_BULK,) if bulk else (), views=BULKS if bulk else None) as s:
        for t in trials:
            begun = time.monotonic()
            try:
                _try(s, t)
            except Failed:
                pass
            except Exception as e:
                s.row.fail(f"{t}: {type(e).__name__}: {str(e).splitlines()[0][:160]}")
                s.anew()
            print(f"  {t}: {'reached' if t.reached else 'not reached'}, {time.monotonic() - begun:.0f} s", flush=True)
            if t.reached:
                s.row.injected += 1
            else:
                s.row.unreached.append(str(t))


def _try(s: Scene, t: Trial) -> None:
    s.load.write(0.3)
    if t.name == LOST:
        for f in s.project.warehouse.glob("delta/local.duckdb*"):
            f.unlink()
    if t.name == PART:
        with psycopg.connect(s.project.dsn) as c:
            for _ in range(3):
                s.load.changes.many(c)
    if t.name in REWRITES:
        with psycopg.connect(s.project.dsn) as c:
            c.execute("UPDATE bulk SET v = v + 1")
    commands.BY_NAME[t.command](s, t)
