"""The server restarts: in good order, after a crash, and with an earlier copy of its data."""

from __future__ import annotations

import signal
import time
from functools import partial

import psycopg

from faulting.network import through
from faulting.refusing import refuses
from faulting.scene import Bench, Scene
from faulting.server import OwnServer


def restart(server: OwnServer, how: signal.Signals, down: float) -> None:
    server.stop(how)
    time.sleep(down)
    server.start()


def restarts(name: str, how: signal.Signals, bench: Bench) -> None:
    """`how` the server is stopped: SIGINT is a fast shutdown, SIGQUIT an immediate one, after which it recovers."""
    with bench.scene(f"server restarted: {name}") as s:
        chance = bench.chance(s.row.kind)
        times = 1 if bench.options.quick else 8 if bench.engine != "spark" else 3
        through(s, [partial(restart, bench.server, how, chance.uniform(0, 5)) for _ in range(times)])


def restored(bench: Bench) -> None:
    """Commits below the old frontier are other ones now; the source has written past the frontier again, or not."""
    for past in (False, True):
        for running in (False, True):
            when = f"{'past' if past else 'short of'} the frontier, run {'goes on' if running else 'is started later'}"
            with OwnServer() as server, bench.scene(f"server restored: {when}", server=server) as s:
                _restored(s, past, running)


def _restored(s: Scene, past: bool, running: bool) -> None:
    s.load.write(0.5)
    s.must("run", "--once")
    copy = s.server.copy()
    run = s.start()
    s.load.write(2)
    s.caught_up(run, 60)
    if not running:
        run.end()
    frontier = position(s)
    s.row.injected += 1
    s.server.restore(copy)
    s.load.write(0.3)
    while past and position(s) < frontier + (1 << 16):
        s.load.write(1)
    refuses(s, "a restore", run if running else None)


def position(s: Scene) -> int:
    with psycopg.connect(s.project.dsn) as c:
        row = c.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone()
        return int(row[0]) if row else 0
