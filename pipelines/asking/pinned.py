"""A connection on which the views of a query can be read, each engine at one frontier.

Where all of them are in one DuckDB file it is a connection to that; else they are brought to one in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import duckdb

from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.duckdb.session import beside, scratch
from connectors.engine import Pin
from pipelines.asking import refreshes
from pipelines.deployment import DeployedView
from pipelines.kinds import KINDS
from pipelines.warehouse import Warehouse


@runtime_checkable
class HasConnection(Protocol):
    con: duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class Pinned:
    """A connection in a transaction, of `engine` where that is not '', and the pins of the engines whose views were
    brought to it."""

    engine: str
    con: duckdb.DuckDBPyConnection
    elsewhere: Mapping[str, Pin]


@contextmanager
def pinned(
    warehouse: Warehouse,
    used: list[DeployedView],
    whole: Mapping[str, ViewPlan],
    scratched: bool = False,
    late: bool = False,
) -> Iterator[Pinned]:
    """The views that are `used`, those of `whole` for every key; with `scratched` all are brought to a connection in
    memory; where it is `late`, with what tells of refreshes."""
    home = "" if scratched else _home(warehouse, used)
    con = _connection(warehouse, home)
    try:
        if late and not home:
            refreshes.bring(warehouse, con)
        for v in used:
            if v.name in whole and v.engine == home:
                query = warehouse.engine(home).whole(whole[v.name])
                con.execute(f"CREATE OR REPLACE TEMP VIEW {ident(v.name).sql('duckdb')} AS {query}")
        remote = [v for v in used if v.engine != home]
        with ExitStack() as stack:
            pins = {e: stack.enter_context(warehouse.engine(e).pinned()) for e in sorted({v.engine for v in remote})}
            for v in remote:
                engine, plan, at = warehouse.engine(v.engine), warehouse.view(v.name)[1], pins[v.engine]
                con.register(v.name, engine.read_whole(plan, at) if v.name in whole else engine.read(plan, None, at))
            con.execute("BEGIN TRANSACTION READ ONLY")
            yield Pinned(home, con, pins)
    finally:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        con.close()


def _home(warehouse: Warehouse, used: list[DeployedView]) -> str:
    """The engine whose own connection answers; '' where none has one."""
    engines = {v.engine for v in used} or set(warehouse.used_engines())
    own = [e for e in warehouse.used_engines() if KINDS[e].in_process(warehouse.deployment.location)]
    return next(iter(engines)) if len(engines) == 1 and engines <= set(own) else next(iter(own), "")


def _connection(warehouse: Warehouse, home: str) -> duckdb.DuckDBPyConnection:
    if home:
        engine = warehouse.engine(home)
        assert isinstance(engine, HasConnection)
        con = beside(engine.con)
    else:
        con = scratch()
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET python_enable_replacements = false")
    return con
