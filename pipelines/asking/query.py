"""query: SQL over the deployed views, wherever they live, at one frontier an engine.

A partial view has the keys that somebody asked for. Those of a query are looked for in the very transaction that
answers it, so that none can be missing there unnoticed; what is missing is filled, and the query begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from compiler.errors import InvalidSql, TidemarkError
from compiler.ir.scalar import Col
from compiler.maintain.asked import Asked
from compiler.maintain.plan import ViewPlan
from connectors.duckdb import frontier
from connectors.duckdb.keys import looked_up
from pipelines.applying.upquery import absent, bare
from pipelines.asking import refreshes
from pipelines.asking.at_source import computed, source_alone
from pipelines.asking.keys import Wanted, refused, wanted
from pipelines.asking.pinned import HasConnection, Pinned, pinned
from pipelines.asking.read_only import REFRESHES, checked, recursive, the_query, unsteady
from pipelines.asking.uses import Uses, keys_in
from pipelines.deployment import DeployedView
from pipelines.kinds import ONE_MACHINE
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
    """Rows, how many keys of partial views were filled for them, and from which LSN on all keys agree: 0 where they
    do; before it each is as it was in the source when it was read."""

    rows: pa.Table
    filled: int
    agree: int = 0
    views: tuple[str, ...] = ()  # that it reads


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
    theirs = [v for v in keyed if every_key and source_alone(warehouse, v)]
    some = _wanted(sql, keyed, warehouse, views) if keyed and not every_key else []
    late = REFRESHES in read
    if late:
        refreshes.check(warehouse)
    apart = late and warehouse.used_engines() != [ONE_MACHINE.name]
    if apart and internal:
        raise InvalidSql(
            f"{REFRESHES} cannot be read beside what is internal here",
            code="refreshes_internal",
            detail="Views are on Spark, too: what tells of them is brought to a connection of its own.",
            hint="Leave out --internal.",
        )
    scratched = (recursive(sql) or apart) and not internal
    waited: list[tuple[str, pa.Table]] = []
    try:
        for _ in range(TRIES):
            whole = {n: p for n, p in keyed.items() if every_key and n not in theirs}
            ours = [v for v in used if v.name not in theirs]
            with pinned(warehouse, ours, whole, scratched, late) as at:
                keys = [(w, _keys(warehouse, w, at, sql)) for w in some]
                gone = [(w.view, missing) for w, k in keys if (missing := absent(k)).num_rows]
                if not gone:
                    stands = _stands(at) if keys or theirs else 0
                    brought = computed(warehouse, theirs) if theirs else None  # later than what stands
                    for name, rows in (brought.rows if brought is not None else {}).items():
                        at.con.register(name, rows)
                    got = _execute(at.con, sql).to_arrow_table()
                    _count(asker, keys, waited)
                    lsns = [x for _, k in keys for x in k["lsn"].to_pylist() if x]
                    lsns += [brought.lsn] if brought is not None and ours else []
                    agree = max(lsns, default=0)
                    agree = agree if agree and agree > stands else 0
                    filled = sum(k.num_rows for _, k in waited)
                    return Answer(got, filled, agree, tuple(v.name for v in used))
            for view, k in gone:
                waited.append((view, k))
                asker.missing(view, k)
    finally:
        for view, k in waited:
            asker.uses.released(view, keys_in(k))
    raise TidemarkError(
        "the keys of the query could not be brought together",
        code="partial_busy",
        detail=f"Keys were missing {TRIES} times in a row.",
        hint="Try again; is the view's memory less than what one query reads?",
    )


def _stands(at: Pinned) -> int:
    """The lowest frontier of what is read; it is read there from now on."""
    cons = [p.con if isinstance(p, HasConnection) else None for p in at.elsewhere.values()]
    found = [frontier.lsn(c) if c is not None else p.lsn for c, p in zip(cons, at.elsewhere.values(), strict=True)]
    return min([*found, *([frontier.lsn(at.con)] if at.engine else [])], default=0)


def _wanted(
    sql: str, keyed: dict[str, ViewPlan], warehouse: Warehouse, views: dict[str, DeployedView]
) -> Sequence[Wanted]:
    asked: dict[str, Asked] = {n.lower(): p.asked for n, p in keyed.items() if p.asked is not None}
    columns = {n.lower(): [c for c, _ in warehouse.view(n)[1].outputs] for n in views}
    found = wanted(the_query(sql), asked, columns)
    for w in found:
        if bad := unsteady(w.query):
            raise InvalidSql(
                f'the keys that the query asks view "{w.view}" for are not the same twice',
                detail=f"They depend on {min(bad)}, so that others could be read than were filled.",
                hint="Ask for the list of keys first, and then for these.",
                code="partial_needs_key",
            )
    return found


def _keys(warehouse: Warehouse, w: Wanted, at: Pinned, sql: str) -> pa.Table:
    """The keys that a reading asks for, looked up in the transaction that answers. Raises InvalidSql where their type
    is not compared as the key is kept."""
    v, plan = warehouse.view(w.view)
    assert plan.asked is not None
    got = _key_rows(at.con, w, sql)
    kinds = list(map(_kind, got.description))
    found = got.to_arrow_table()
    for i, (c, kind) in enumerate(zip(plan.asked.columns, kinds, strict=True)):
        if found[i].null_count < found.num_rows:
            _check_compared(plan.view, c, kind)
    for i, part in w.parts:  # a UNION gives all of them one type, in which the query does not compare them
        one = at.con.execute(part)
        kind, rows = _kind(one.description[0]), one.to_arrow_table()
        if rows[0].null_count < rows.num_rows:
            _check_compared(plan.view, plan.asked.columns[i], kind)
    if v.engine == at.engine:
        return looked_up(at.con, plan.asked, found)
    return warehouse.engine(v.engine).look_up(plan.asked, found, at.elsewhere[v.engine])


def _kind(described: Sequence[Any]) -> str:
    return str(described[1]).split("(")[0].upper()


def _check_compared(view: str, c: Col, kind: str) -> None:
    """Raises InvalidSql where a key would not be compared with values of this type as it is kept."""
    text = c.type.name in ("text", "varchar", "enum")
    if kind in INEXACT or (text and kind not in ("VARCHAR", "STRING", "ENUM")):
        raise InvalidSql(
            f'the key "{c.name}" of view "{view}" is compared with a {kind.lower()}',
            detail=f"It is of type {c.type}: what equals it cannot be told beforehand.",
            hint="CAST the other side to its type.",
            code="partial_needs_key",
        )


def _key_rows(con: duckdb.DuckDBPyConnection, w: Wanted, sql: str) -> duckdb.DuckDBPyConnection:
    """The keys, computed. Where they cannot be, it is the query's own error, or none of its own: then it is refused."""
    try:
        return con.execute(w.query)
    except duckdb.Error as e:
        con.execute("ROLLBACK")
        _execute(con, f"EXPLAIN {the_query(sql)}")
        raise refused(w.view, f"Its keys could not be computed: {str(e).splitlines()[0]}") from e


def _count(asker: Asker, keys: list[tuple[Wanted, pa.Table]], waited: list[tuple[str, pa.Table]]) -> None:
    new: dict[str, set[tuple[str, ...]]] = {}
    for view, k in waited:
        new.setdefault(view, set()).update(keys_in(k))
    for w, k in keys:
        asker.uses.asked(w.view, keys_in(bare(k)), len(new.pop(w.view, ())))


def _execute(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyConnection:
    try:
        return con.execute(sql)
    except duckdb.Error as e:
        lines = str(e).split("\n")
        raise InvalidSql(
            "the query failed", detail=lines[0], hint="tidemark query reads DuckDB's SQL.", code="query_failed"
        ) from e
