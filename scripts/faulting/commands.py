"""Commands in which a failpoint strikes, and what has to be true after each."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import duckdb
import psycopg

from faulting.project import Told
from faulting.scene import Scene
from faulting.schema import LATER, PARTIAL
from faulting.watching import Watching

if TYPE_CHECKING:
    from faulting.points import Trial

WORKS = {"duckdb": 20.0, "local": 20.0, "spark": 90.0}  # seconds in which a failpoint of `run` is to be passed

COPIES = ("arriving.", "snapshot.", "deploy.")  # failpoints of what copies tables beside a pipeline
RESTS = 12.0  # seconds in which one that rests has folded


def struck(s: Scene, t: Trial, got: Told) -> bool:
    """Whether the failpoint struck; a command that goes on after an error has told of it."""
    t.reached = got.code == -signal.SIGKILL if t.action == "kill" else t.name in got.text and got.code != 2
    if got.code is None:
        s.row.fail(f"{t}: did not end")
    elif not t.reached and got.code not in (0, -signal.SIGKILL) and not got.unknown:
        s.row.fail(f"{t}: {got.reason}")
    elif t.reached and t.action == "raise" and got.code == 0 and t.command != "run":
        s.row.fail(f"{t}: exit 0 after an error")
    return t.reached


def run(s: Scene, t: Trial) -> None:
    with Watching(s.project, s.load, s.row), s.load.working(renaming=True):
        process = s.project.run(t.setting)
        process.ready()
        deadline = time.monotonic() + WORKS[s.project.engine]
        while not process.ended and time.monotonic() < deadline:
            time.sleep(0.05)
        got = process.end()
    struck(s, t, got)
    s.recover(str(t))


def rest(s: Scene, t: Trial) -> None:
    """A pipeline that has nothing to do for a while, and folds what waits in tails."""
    with Watching(s.project, s.load, s.row):
        process = s.project.run(t.setting)
        process.ready()
        s.load.write(0.5)
        deadline = time.monotonic() + RESTS
        while not process.ended and time.monotonic() < deadline:
            time.sleep(0.05)
        got = process.end()
    struck(s, t, got)
    s.recover(str(t))


def once(s: Scene, t: Trial) -> None:
    struck(s, t, s.project.do("run", "--once", failpoints=t.setting))
    s.recover(str(t))


def verify(s: Scene, t: Trial) -> None:
    """Where no batch is passed, a state has lost its rows, so that there is something to repair.

    (A batch that is merged into such a state may make its view equal again by chance, and what it counts stays wrong.)
    """
    if s.project.engine != "spark" and t.name.startswith("snapshot."):
        s.must("run", "--once")
        damage(s)
    struck(s, t, s.project.do("verify", "--repair", failpoints=t.setting))
    got = s.project.do("verify", "--repair")
    if got.code is None or "Traceback" in got.text or "error:" in got.text:
        s.row.fail(f"after {t}, verify --repair: {got.reason}")
    if s.recover(str(t)) and (again := s.project.do("verify")).code != 0:
        s.row.fail(f"after {t}, verify: {again.reason}")


def damage(s: Scene) -> None:
    with duckdb.connect(str(s.project.file)) as con:
        states = [
            r[0]
            for r in con.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'state' "
                "AND table_name LIKE 'item%' ORDER BY 1"
            ).fetchall()
        ]
        con.execute(f'DELETE FROM state."{random.Random(len(states)).choice(states)}"')


def ask(s: Scene, t: Trial) -> None:
    """Keys of a partial view are asked for, more than it has room for."""
    chance = random.Random(str(t))
    for view, key in ((v, k) for v, k in PARTIAL.items() if v in s.project.views):
        some = [", ".join(map(str, chance.sample(range(220), 60))) for _ in range(3)]
        s.must("query", f"SELECT count(*) FROM {view} WHERE {key} IN ({some[0]})")
        struck(s, t, s.project.do("query", f"SELECT * FROM {view} WHERE {key} IN ({some[1]})", failpoints=t.setting))
        s.load.write(0.2)
        s.must("query", "--wait", f"SELECT count(*) FROM {view} WHERE {key} IN ({some[2]})")
    s.recover(str(t))


def slots(s: Scene) -> int:
    with psycopg.connect(s.project.dsn) as c:
        row = c.execute("SELECT count(*) FROM pg_replication_slots WHERE database = current_database()").fetchone()
        return int(row[0]) if row else 0


def one_slot(s: Scene, t: Trial) -> None:
    """Temporary slots go when the server notices that their reader has died."""
    deadline = time.monotonic() + 10
    while slots(s) != 1:
        if time.monotonic() > deadline:
            s.row.fail(f"after {t}: {slots(s)} slots")
            return
        time.sleep(0.1)


def deploy(s: Scene, t: Trial) -> None:
    """A first one, which the next must finish, leaving one slot."""
    s.project.do("teardown", "--yes")
    shutil.rmtree(s.project.warehouse, ignore_errors=True)
    struck(s, t, s.project.do("deploy", failpoints=t.setting))
    s.load.write(0.2)
    s.must("deploy")
    one_slot(s, t)
    s.recover(str(t))


def resumed(s: Scene, t: Trial) -> None:
    """A first one that goes on where another was killed, which the next must finish."""
    s.project.do("teardown", "--yes")
    shutil.rmtree(s.project.warehouse, ignore_errors=True)
    s.project.do("deploy", failpoints="snapshot.range=kill:2")
    s.load.write(0.2)
    struck(s, t, s.project.do("deploy", failpoints=t.setting))
    s.load.write(0.2)
    s.must("deploy")
    one_slot(s, t)
    s.recover(str(t))


def redeploy(s: Scene, t: Trial) -> None:
    """A view over a new table comes; what was there is as it was, whether the next command is run or deploy."""
    before = dict(s.project.views)
    s.project.add(LATER)
    struck(s, t, s.project.do("deploy", failpoints=t.setting))
    s.load.write(0.2)
    s.project.views = before
    s.recover(f"{t}, before the next deploy")
    s.project.add(LATER)
    s.must("deploy")
    one_slot(s, t)
    s.load.write(0.1)
    s.recover(str(t))
    s.project.drop(LATER)
    s.must("deploy")


def beside(s: Scene, t: Trial) -> None:
    """A deploy that the running pipeline does: a view over a new table comes, and a table that was altered is copied
    again. Nobody who reads the others meanwhile sees a half or an error."""
    with Watching(s.project, s.load, s.row), s.load.working():
        copies = t.name.startswith(COPIES) and s.project.engine != "spark"  # the deploy does, beside the pipeline
        process = s.project.run("" if copies else t.setting)
        process.ready()
        with psycopg.connect(s.project.dsn) as c:
            c.execute("ALTER TABLE item ALTER kind TYPE int USING kind + 0")
        s.project.add(LATER)
        told = s.project.do("deploy", failpoints=t.setting if copies else "")
        got = process.end()
    if copies and got.code != 0:
        s.row.fail(f"{t}: the pipeline beside it: {got.reason}")
    killed = told if copies else got
    struck(s, t, killed if t.action == "kill" else Told(told.code, got.text + told.text, told.seconds))
    s.load.write(0.2)
    s.must("deploy")
    one_slot(s, t)
    s.recover(str(t))
    s.project.drop(LATER)
    s.must("deploy")


def resync(s: Scene, t: Trial) -> None:
    got = s.project.do("deploy", "--resync", failpoints=t.setting)
    if got.unknown:
        return
    struck(s, t, got)
    s.load.write(0.2)
    again = s.project.do("deploy", "--resync")
    if again.code != 0:
        s.row.fail(f"after {t}, deploy --resync: {again.reason}")
        s.anew()
    one_slot(s, t)
    s.recover(str(t))


BY_NAME: dict[str, Callable[[Scene, Trial], None]] = {
    "run": run,
    "rest": rest,
    "once": once,
    "verify": verify,
    "ask": ask,
    "deploy": deploy,
    "resumed": resumed,
    "redeploy": redeploy,
    "beside": beside,
    "resync": resync,
}
