"""engine = 'auto': DuckDB, unless a view reads a table that is too large for one machine.

DuckDB holds mirrors and states of tens of millions of rows at a fraction of what a Spark job takes, and a statement
over views of one engine sees one LSN.
"""

from __future__ import annotations

import psycopg

from compiler.errors import TidemarkError
from pipelines.asking.explain import statements
from pipelines.config import Config
from pipelines.kinds import AUTO, EXECUTORS, ONE_MACHINE
from pipelines.project import Compiled


def place(conn: psycopg.Connection, views: list[Compiled], config: Config) -> None:
    """Decide the engine of every view that says auto; the why goes into its notes."""
    undecided = [v for v in views if v.engine == AUTO]
    if undecided:
        sizes = _sizes(conn, undecided)
        for v in undecided:
            _by_size(v, sizes, config)
    for v in views:
        if v.error is None:
            _check(v)


def _sizes(conn: psycopg.Connection, views: list[Compiled]) -> dict[str, int]:
    """Estimated rows of each table the views read."""
    out: dict[str, int] = {}
    for name in sorted({t for v in views if v.plan for t in v.plan.tables}):
        schema, _, table = name.partition(".")
        row = conn.execute(
            "SELECT greatest(reltuples, 0)::bigint, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
            (schema, table),
        ).fetchone()
        rows, size = row if row else (0, 0)
        out[name] = max(int(rows), int(size) // 200)
    return out


def _by_size(v: Compiled, sizes: dict[str, int], config: Config) -> None:
    assert v.plan is not None
    limit = config.spark.threshold_rows
    if v.plan.by_key:
        v.engine = ONE_MACHINE.name
        v.notes.append(f"engine auto: {v.engine}, since the rows of the keys that are asked for are few")
        return
    if v.plan.lag is not None:
        v.engine = ONE_MACHINE.name
        v.notes.append(
            f"engine auto: {v.engine}, as executors, who may have to keep what is large, keep none that lags"
        )
        return
    rows, table = max(((sizes[t], t) for t in v.plan.tables), default=(0, "none"))
    big = rows > limit
    v.engine = (EXECUTORS if big and _can_run(v, EXECUTORS.name) else ONE_MACHINE).name
    v.notes.append(
        f"engine auto: {v.engine}, since its largest table, {table}, has about {rows} rows, "
        f"{'above' if big else 'within'} the threshold of {limit}"
        + (f"; but {EXECUTORS.title} cannot run it" if big and v.engine != EXECUTORS.name else "")
    )


def _can_run(v: Compiled, engine: str) -> bool:
    before, v.engine = v.engine, engine
    try:
        statements(v, by_keys=False)
        return True
    except TidemarkError:
        return False
    finally:
        v.engine = before


def _check(v: Compiled) -> None:
    """Refuse what the engine's dialect cannot say before any table is copied."""
    try:
        statements(v, by_keys=False)
    except TidemarkError as e:
        v.error = e
    except Exception as e:
        v.error = TidemarkError(
            f'view "{v.name}" could not be compiled',
            code="compiler_bug",
            detail=f"{type(e).__name__}: {e}"[:300],
            hint="This is a bug of Tidemark; please report it.",
        )
