"""How far each state is, for `status --states`: states share a frontier with their engine, but for those that lag."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.maintain.kept import Lagging, Own, describe, own
from compiler.maintain.paced import logs
from connectors.engine import Engine
from connectors.postgres.connection import format_lsn
from pipelines.warehouse import Warehouse


@dataclass(frozen=True)
class StateStatus:
    """`kept`: what it is, `place`: Local or Dist, where there are both. `rows` and `bytes`, of its blocks or files:
    None where nobody knows without reading them. `waiting`: rows of changes that it has not taken yet. `frontier`: the
    LSN that it was taken to last; None of one that is read with what waits in its tail."""

    state: str
    engine: str
    kept: str
    views: tuple[str, ...]
    rows: int | None
    waiting: int | None
    frontier: str | None
    bytes: int | None = None
    place: str = ""


def mirrors_of(warehouse: Warehouse) -> dict[str, dict[str, int | None]]:
    """The bytes of each mirror, by engine and table."""
    return {
        e: {f"{t.schema}.{t.name}": warehouse.engine(e).mirror_bytes(t.mirror) for t in warehouse.tables(e)}
        for e in warehouse.used_engines()
    }


def states_of(warehouse: Warehouse) -> list[StateStatus]:
    """Of the views that are maintained, each state once, in the order in which they take changes."""
    out = []
    for name in warehouse.used_engines():
        readers: dict[str, list[str]] = {}
        states: dict[str, Own] = {}
        for plan in warehouse.plans(name):
            for s in own(plan.states):
                states.setdefault(s.name, s)
                readers.setdefault(s.name, []).append(plan.view)
        out += [_status(warehouse.engine(name), name, s, tuple(readers[s.name])) for s in states.values()]
    return out


def _status(on: Engine, engine: str, s: Own, views: tuple[str, ...]) -> StateStatus:
    lsn: int | None = on.frontier()
    waiting: int | None = 0
    if s.waits:
        waiting = sum(on.rows(log) or 0 for log in logs([s]))
        reached = on.paced.reached().get(s.name)
        lsn = reached.lsn if waiting and reached is not None else lsn
    elif isinstance(s, Lagging) and s.tail is not None:
        waiting = on.rows(s.tail.name)
        lsn = None if waiting != 0 else lsn
    rows = on.rows(s.name)
    size = on.size(s.name)[1] if rows is not None else None  # else both take a read
    at = None if lsn is None else format_lsn(lsn)
    return StateStatus(s.name, engine, describe(s), views, rows, waiting, at, size, on.place(s.name))


def shown(size: int) -> str:
    """Bytes, for people."""
    return f"{size / 1e6:,.1f} MB"


def plain(states: list[StateStatus]) -> list[str]:
    """Two lines for each, as a terminal shows them."""
    out = []
    for s in states:
        rows = "rows not known" if s.rows is None else f"{s.rows:,} rows"
        rows += "" if s.bytes is None else f", {shown(s.bytes)}"
        at = "read with its tail" if s.frontier is None else f"frontier {s.frontier}"
        wait = "" if s.waiting == 0 else f", {'some' if s.waiting is None else f'{s.waiting:,}'} rows of changes wait"
        out.append(f"state {s.state}: {s.kept}, for {', '.join(s.views)}")
        place = f", {s.place}" if s.place else ""
        out.append(f"  {s.engine}{place}, {rows}{wait}, {at}")
    return out
