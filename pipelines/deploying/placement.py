"""engine = 'auto': DuckDB, unless what a view reads has no room on this machine, or a batch would take longer there.

DuckDB holds mirrors and states of tens of millions of rows at a fraction of what a Spark job takes, and a statement
over views of one engine sees one LSN. An index finds what a batch meets, whatever the mirror's size; where there is no
memory for one the mirror is scanned, at the pace that is measured here. Spark's batch takes what docs/bench.md has.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import psycopg

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from connectors.duckdb.pace import seconds_a_row
from connectors.duckdb.session import memory
from pipelines.asking.explain import statements
from pipelines.config import Config
from pipelines.kinds import AUTO, EXECUTORS, ONE_MACHINE
from pipelines.project import Compiled
from pipelines.refused import qualified, to_keep

SHARE = 0.5  # of the disk: states, the WAL and what is sorted need room, too
SPARK_BATCH = 0.45  # seconds of a batch of 1,000 rows that Spark fetches for: docs/bench.md, two mirrors Dist
SCANS = 2  # of a mirror in a batch: for old images, and for what meets another table's change
VALUE, PATH = 8, 13  # bytes of an index: of a value, of a row's hash and position in each of two orders
PATHS = 2
SIZES = """
SELECT n.nspname, c.relname, coalesce(sum(greatest(l.reltuples, 0)), 0)::bigint,
  coalesce(sum(pg_relation_size(l.oid)), 0)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL (
  SELECT c.oid AS relid UNION SELECT relid FROM pg_partition_tree(c.oid)
  UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid) p
JOIN pg_class l ON l.oid = p.relid AND l.relkind = 'r'
WHERE n.nspname || '.' || c.relname = ANY(%s) GROUP BY 1, 2
"""


@dataclass(frozen=True)
class Size:
    """Of a table: about how many rows it has, and the columns and bytes of these that views read."""

    rows: int
    columns: int
    bytes: int

    @property
    def index(self) -> int:
        return self.rows * (VALUE * self.columns + PATH * PATHS)


@dataclass(frozen=True)
class Room:
    """Bytes of disk, and of memory for indexes."""

    disk: int
    index: int


def place(conn: psycopg.Connection, views: list[Compiled], catalog: Catalog, config: Config) -> None:
    """Decide the engine of every view that says auto; the why goes into its notes."""
    undecided = [v for v in views if v.engine == AUTO]
    if undecided:
        here = [v for v in views if v.engine in (AUTO, ONE_MACHINE.name)]
        sizes = _sizes(conn, here, catalog)
        if (most := config.spark.threshold_rows) is not None:
            for v in undecided:
                _by_rows(v, sizes, most)
        else:
            _by_cost(undecided, here, sizes, _room(config), seconds_a_row)
    for v in views:
        if v.error is None:
            _check(v)


def _sizes(conn: psycopg.Connection, views: list[Compiled], catalog: Catalog) -> dict[str, Size]:
    """Of each table that the views read."""
    plans = [v.plan for v in views if v.plan is not None]
    read = {t for p in plans for t in p.tables}
    tables = {qualified(t): t for t in catalog.tables.values() if qualified(t) in read}
    out = {}
    for schema, name, rows, size in conn.execute(SIZES, (sorted(read),)).fetchall():
        t = tables[f"{schema}.{name}"]
        kept = len(to_keep(t, plans))
        counted = max(int(rows), int(size) // 200)
        out[qualified(t)] = Size(counted, kept, int(size) * kept // max(1, len(t.columns)))
    return out


def _room(config: Config) -> Room:
    folder = config.warehouse_path.absolute()
    own = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) if folder.exists() else 0
    while not folder.exists():
        folder = folder.parent
    index = config.duckdb.index_bytes
    return Room(int((shutil.disk_usage(folder).free + own) * SHARE), memory() if index is None else index)


def _fixed(v: Compiled) -> str:
    """Why it is DuckDB's whatever its size, where it is."""
    assert v.plan is not None
    if v.plan.by_key:
        return "the rows of the keys that are asked for are few"
    if v.plan.lag is not None:
        return "executors, who may have to keep what is large, keep none that lags"
    return ""


def _by_rows(v: Compiled, sizes: Mapping[str, Size], most: int) -> None:
    assert v.plan is not None
    if why := _fixed(v):
        _take(v, False, why)
        return
    rows, table = max(((_of(sizes, t).rows, t) for t in v.plan.tables), default=(0, "none"))
    within = "above" if rows > most else "within"
    _take(v, rows > most, f"its largest table, {table}, has about {rows:,} rows, {within} the threshold of {most:,}")


def _by_cost(
    undecided: list[Compiled],
    here: list[Compiled],
    sizes: Mapping[str, Size],
    room: Room,
    a_row: Callable[[], float],
) -> None:
    """The views of the largest tables go first, as long as what is left has no room, or takes longer. `a_row` measures
    what a row costs that is scanned, in seconds: only where one is."""
    left = {v.name: v.plan.tables for v in here if v.plan is not None}
    for v in sorted(undecided, key=lambda v: (-_bytes(sizes, left[v.name]), v.name)):
        if why := _fixed(v):
            _take(v, False, why)
            continue
        tables = frozenset().union(*left.values())
        kept, scanned = _bytes(sizes, tables), _scanned(sizes, tables, room.index)
        slow = sum(_of(sizes, t).rows for t in left[v.name] & scanned)
        seconds = SCANS * slow * a_row() if slow else 0.0
        if kept > room.disk:
            why = f"the tables of views here take some {_gb(kept)}, and {_gb(room.disk)} of disk are theirs"
        else:
            scans = f"scans, in about {1000 * seconds:,.0f} ms: there is no memory for an index"
            why = (
                f"what is kept of its tables takes some {_gb(_bytes(sizes, left[v.name]))}, and a batch finds its rows "
                f"by {scans if slow else 'an index'}; Spark takes {1000 * SPARK_BATCH:,.0f} ms"
            )
        if _take(v, kept > room.disk or seconds > SPARK_BATCH, why):
            del left[v.name]


def _of(sizes: Mapping[str, Size], table: str) -> Size:
    return sizes.get(table, Size(0, 0, 0))


def _bytes(sizes: Mapping[str, Size], tables: Iterable[str]) -> int:
    return sum(_of(sizes, t).bytes for t in tables)


def _scanned(sizes: Mapping[str, Size], tables: Iterable[str], memory: int) -> set[str]:
    """The tables for which there is no index: the largest, until the others have room."""
    out, need = set(), sum(_of(sizes, t).index for t in tables)
    for t in sorted(tables, key=lambda t: (-_of(sizes, t).index, t)):
        if need > memory:
            out.add(t)
            need -= _of(sizes, t).index
    return out


def _gb(n: int) -> str:
    return f"{n / (1 << 30):,.1f} GB"


def _take(v: Compiled, large: bool, why: str) -> bool:
    """Whether it goes to Spark: where it is `large`, and Spark can run it."""
    v.engine = (EXECUTORS if large and _can_run(v, EXECUTORS.name) else ONE_MACHINE).name
    cannot = f"; but {EXECUTORS.title} cannot run it" if large and v.engine != EXECUTORS.name else ""
    v.notes.append(f"engine auto: {v.engine}, since {why}{cannot}")
    return v.engine == EXECUTORS.name


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
