"""What others may do to the slot and the publication: it is noticed, refused with a reason, and a resync mends it."""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg
from psycopg import sql

from faulting.project import Run
from faulting.refusing import refuses
from faulting.scene import Bench, Scene

Fault = Callable[[Scene], None]


def execute(s: Scene, *statements: str) -> None:
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        for x in statements:
            c.execute(x.encode())


def named(s: Scene, what: str) -> str:
    return str(json.loads((s.project.warehouse / "deployment.json").read_text())[what])


def taken(s: Scene, change: str) -> None:
    """A change for which nobody may read the slot: its reader is ended first, as often as it comes back."""
    slot = named(s, "slot")
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        for _ in range(200):
            c.execute(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = %s AND active",
                (slot,),
            )
            try:
                c.execute(change.encode(), (slot,))
                return
            except psycopg.errors.ObjectInUse:
                continue
    raise RuntimeError("the slot is always in use")


def advanced(s: Scene) -> None:
    s.load.write(0.5)
    taken(s, "SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())")


def dropped(s: Scene) -> None:
    taken(s, "SELECT pg_drop_replication_slot(%s)")
    s.load.write(0.5)


def remade(s: Scene) -> None:
    taken(s, "SELECT pg_drop_replication_slot(%s)")
    s.load.write(0.5)
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        c.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", (named(s, "slot"),))
    s.load.write(0.3)


def unpublished(s: Scene) -> None:
    """What is written meanwhile is not sent, and nothing in the publication shows it afterwards."""
    name = sql.Identifier(named(s, "publication"))
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        c.execute(sql.SQL("ALTER PUBLICATION {} DROP TABLE item").format(name))
    s.load.write(1)
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        c.execute(sql.SQL("ALTER PUBLICATION {} ADD TABLE item").format(name))
    s.load.write(0.3)


def no_updates(s: Scene) -> None:
    name = sql.Identifier(named(s, "publication"))
    with psycopg.connect(s.project.dsn, autocommit=True) as c:
        c.execute(sql.SQL("ALTER PUBLICATION {} SET (publish = 'insert, delete')").format(name))
    s.load.write(1)


FAULTS: dict[str, Fault] = {
    "slot advanced": advanced,
    "slot dropped": dropped,
    "slot dropped and made again": remade,
    "table taken out of the publication and put back": unpublished,
    "publication without updates": no_updates,
}


def slots(bench: Bench) -> None:
    for name, fault in FAULTS.items():
        for running in (False,) if bench.options.quick else (False, True):
            with bench.scene(f"{name}, {'while run is on' if running else 'while stopped'}") as s:
                s.load.write(0.3)
                s.must("run", "--once")
                run: Run | None = s.start() if running else None
                s.load.write(0.5)
                fault(s)
                s.row.injected += 1
                refuses(s, name, run)
