"""query: SQL over the deployed views, wherever they live, at one frontier an engine.

A partial view has the keys that somebody asked for. Those of a query are looked for in the very transaction that
answers it, so that none can be missing there unnoticed; what is missing is filled, and the query begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from compiler.errors import InvalidSql, TidemarkError
from compiler.maintain.asked import Asked
from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from connectors.duckdb.keys import looked_up
from connectors.duckdb.session import scratch
from pipelines.asking.keys import Wanted, wanted
from pipelines.asking.read_only import checked, functions_of, the_query
from pipelines.asking.upquery import absent
from pipelines.asking.uses import Uses, keys_in
from pipelines.deployment import LOCAL, DeployedView
from pipelines.warehouse import Warehouse

TRIES = 20  # to find all keys there: each filling may bring keys of another view that give more
INEXACT = ("FLOAT", "DOUBLE")
Fill = Callable[[str, pa.Table], int]  # keeps what a view has for keys; gives how many were not there


class KeysMissing(TidemarkError):
    """Keys of a partial view are not there, and who asks may not write."""


@dataclass
class Asker:
    """How keys are filled, and who counts them. Without a `fill` a query whose keys are missing raises KeysMissing."""

    fill: Fill | None = None
    uses: Uses = field(default_factory=Uses)

    def missing(self, view: str, keys: pa.Table) -> None:
        if self.fill is None:
            raise KeysMissing(f'keys of view "{view}" are not there')
        some = keys_in(keys)
        self.uses.wait(view, some)
        self.fill(view, keys)


@dataclass(frozen=True)
class Answer:
    """Rows, and how many keys of partial views were filled for them."""

    rows: pa.Table
    filled: int


def answer(
    warehouse: Warehouse, sql: str, internal: bool = False, asker: Asker | None = None, every_key: bool = False
) -> Answer:
    """The result of a query in DuckDB's SQL; views that are elsewhere are read first, all at one version. `every_key`:
    partial views are computed for all keys, from the mirrors."""
    asker = asker or Asker()
    views = {v.name: v for v in warehouse.deployment.views}
    read = checked(sql, set(views), internal)
    used = [v for v in views.values() if v.name.lower() in read]
    for v in used:
        if v.error:
            raise warehouse.set_aside_error(v)
    keyed = {v.name: p for v in used if (p := warehouse.view(v.name)[1]).asked is not None}
    some = _wanted(sql, keyed, warehouse, views) if keyed and not every_key else []
    waited: list[tuple[str, pa.Table]] = []
    try:
        for _ in range(TRIES):
            with _reading(warehouse, used, keyed if every_key else {}) as at:
                keys = [(w, _keys(warehouse, w, at)) for w in some]
                gone = [(w.view, missing) for w, k in keys if (missing := absent(k)).num_rows]
                if not gone:
                    got = _execute(at.con, sql).to_arrow_table()
                    _count(asker, keys, waited)
                    return Answer(got, sum(k.num_rows for _, k in waited))
            for view, k in gone:
                asker.missing(view, k)
                waited.append((view, k))
    finally:
        for view, k in waited:
            asker.uses.told(view, keys_in(k))
    raise TidemarkError(
        "the keys of the query could not be brought together",
        code="partial_busy",
        detail=f"Keys were missing {TRIES} times in a row.",
        hint="Try again; is the view's memory less than what one query reads?",
    )


def _wanted(sql: str, keyed: dict[str, ViewPlan], warehouse: Warehouse, views: dict[str, DeployedView]) -> list[Wanted]:
    asked: dict[str, Asked] = {n.lower(): p.asked for n, p in keyed.items() if p.asked is not None}
    columns = {n.lower(): [c for c, _ in warehouse.view(n)[1].outputs] for n in views}
    found = wanted(the_query(sql), asked, columns)
    for w in found:
        if bad := functions_of(w.query) & _volatile():
            raise InvalidSql(
                f'the keys that the query asks view "{w.view}" for are not the same twice',
                detail=f"They depend on {min(bad)}, so that others could be read than were filled.",
                hint="Ask for the list of keys first, and then for these.",
                code="partial_needs_key",
            )
    return found


@cache
def _volatile() -> set[str]:
    rows = scratch().execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE stability = 'VOLATILE'")
    return {r[0] for r in rows.fetchall()} | {"LIMIT", "SAMPLE"}


@runtime_checkable
class HasConnection(Protocol):
    con: duckdb.DuckDBPyConnection


@dataclass(frozen=True)
class _Reading:
    """A connection in a transaction, of `engine` where that is not '', and the pin of the views that are elsewhere."""

    engine: str
    con: duckdb.DuckDBPyConnection
    elsewhere: Any


@contextmanager
def _reading(warehouse: Warehouse, used: list[DeployedView], whole: dict[str, ViewPlan]) -> Iterator[_Reading]:
    """A connection that reads the views, in one transaction, and the pin of those that are elsewhere. `whole`: partial
    views that are read for every key."""
    home = _home(warehouse, used)
    remote = [v for v in used if v.engine != home]
    con = _connection(warehouse, home)
    try:
        for v in used:
            if v.name in whole and v.engine == home:
                query = warehouse.engine(home).whole(whole[v.name])
                con.execute(f"CREATE OR REPLACE TEMP VIEW {ident(v.name).sql('duckdb')} AS {query}")
        with ExitStack() as stack:
            at = stack.enter_context(warehouse.engine(remote[0].engine).pinned()) if remote else None
            for v in remote:
                engine, plan = warehouse.engine(v.engine), warehouse.view(v.name)[1]
                rows = engine.read_whole(plan, at) if v.name in whole else engine.read(plan, None, at)
                con.register(v.name, rows)
            con.execute("BEGIN TRANSACTION READ ONLY")
            yield _Reading(home, con, at)
    finally:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        con.close()


def _keys(warehouse: Warehouse, w: Wanted, at: _Reading) -> pa.Table:
    """The keys that a reading asks for, looked up in the transaction that answers. Raises InvalidSql where their type
    is not compared as the key is kept."""
    v, plan = warehouse.view(w.view)
    assert plan.asked is not None
    got = _execute(at.con, w.query)
    for c, d in zip(plan.asked.columns, got.description, strict=True):
        kind = str(d[1]).split("(")[0].upper()
        text = c.type.name in ("text", "varchar", "enum")
        if kind in INEXACT or (text and kind not in ("VARCHAR", "STRING", "ENUM", "NULL", '"NULL"')):
            raise InvalidSql(
                f'the key "{c.name}" of view "{plan.view}" is compared with a {kind.lower()}',
                detail=f"It is of type {c.type}: what equals it cannot be told beforehand.",
                hint="CAST the other side to its type.",
                code="partial_needs_key",
            )
    found = got.to_arrow_table()
    if v.engine == at.engine:
        return looked_up(at.con, plan.asked, found)
    return warehouse.engine(v.engine).look_up(plan.asked, found, at.elsewhere)


def _count(asker: Asker, keys: list[tuple[Wanted, pa.Table]], waited: list[tuple[str, pa.Table]]) -> None:
    new: dict[str, set[tuple[str, ...]]] = {}
    for view, k in waited:
        new.setdefault(view, set()).update(keys_in(k))
    for w, k in keys:
        asker.uses.asked(w.view, keys_in(k.drop_columns("absent")), len(new.pop(w.view, ())))


def _execute(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyConnection:
    try:
        return con.execute(sql)
    except duckdb.Error as e:
        lines = str(e).split("\n")
        raise InvalidSql(
            "the query failed", detail=lines[0], hint="tidemark query reads DuckDB's SQL.", code="query_failed"
        ) from e


def _home(warehouse: Warehouse, used: list[DeployedView]) -> str:
    """The engine whose own connection answers; '' where none has one: then what is read is brought to one."""
    engines = {v.engine for v in used} or set(warehouse.used_engines())
    own = [e for e in warehouse.used_engines() if e == "duckdb" or warehouse.deployment.location == LOCAL]
    return next(iter(engines)) if len(engines) == 1 and engines <= set(own) else next(iter(own), "")


def _connection(warehouse: Warehouse, home: str) -> duckdb.DuckDBPyConnection:
    if home:
        engine = warehouse.engine(home)
        assert isinstance(engine, HasConnection)
        con = engine.con.cursor()
    else:
        con = scratch()
    con.execute("SET TimeZone = 'UTC'")
    con.execute("SET python_enable_replacements = false")
    return con
