"""Tables that executors copy: each task reads ranges of one in the snapshot, and writes them where the mirror's files
are.

That needs executors that have Tidemark's Python packages, reach the source by the driver's connection string, and see
the warehouse where the driver does: `why_not` asks one. Values are read by the same code as in the driver.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compiler.catalog import Table
from compiler.errors import TidemarkError
from connectors.duckdb import landing
from connectors.duckdb.session import scratch
from connectors.duckdb.values import cast_errors
from connectors.engine import EngineFailure, RangedRead
from connectors.literal_rows import ValueOutOfRange, parsed
from connectors.postgres.connection import connect
from connectors.postgres.ranges import Range
from connectors.postgres.snapshot import copy_table
from connectors.spark import durable
from connectors.spark.driver import Driver
from connectors.spark.failures import last_line
from connectors.spark.landing import held
from connectors.spark.local.delta import BASE
from connectors.spark.local.stored import copy, to_delta

AT_ONCE = 2  # ranges for each core of the cluster, so that one that is slow is not waited for alone


@dataclass(frozen=True)
class Task:
    """Ranges of a table, and the folder for their files; `extra` is SQL for columns that each row has besides."""

    reading: RangedRead
    table: Table
    ranges: tuple[Range, ...]
    folder: str
    extra: str
    held: bool  # in the form that Spark reads, and not that of a base


@dataclass(frozen=True)
class Written:
    """Rows, bytes as they were read, and names of files; or, of a value that does not fit, its column and why."""

    rows: int = 0
    size: int = 0
    files: tuple[str, ...] = ()
    column: str = ""
    message: str = ""
    detail: str = ""
    hint: str = ""


class Executors:
    """Those of a cluster, as far as they copy tables."""

    def __init__(self, driver: Driver, folder: Path) -> None:
        self.driver, self.folder = driver, folder
        self._why: str | None = None

    def why_not(self, dsn: str) -> str:
        """Why they cannot, '' where they can; it is asked once."""
        if self._why is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self.folder / f".asked-{uuid.uuid4().hex}"
            try:
                context = self.driver.session.sparkContext
                (told,) = context.parallelize([(dsn, str(file))], 1).map(_asked).collect()
                self._why = told or ("" if file.exists() else "they do not see the warehouse's folder")
            except TidemarkError:
                raise
            except Exception as e:
                self._why = last_line(e)
            file.unlink(missing_ok=True)
        return self._why

    def copy(
        self, t: Table, reading: RangedRead, folder: Path, extra: str, held: bool, told: Callable[[int, int], None]
    ) -> tuple[int, list[Path]]:
        """The table's rows as files in the folder; gives their number, and the files. Raises ValueOutOfRange."""
        context = self.driver.session.sparkContext
        each = max(1, len(reading.ranges) // (AT_ONCE * context.defaultParallelism))
        parts = [reading.ranges[i : i + each] for i in range(0, len(reading.ranges), each)]
        tasks = [Task(reading, t, tuple(p), str(folder), extra, held) for p in parts]
        try:
            written: list[Written] = context.parallelize(tasks, len(tasks)).map(_copied).collect()
        except Exception as e:
            raise EngineFailure(
                f'executors could not copy "{t.schema}.{t.name}"', detail=last_line(e), code="engine"
            ) from e
        if refused := [w for w in written if w.column]:
            raise _out_of_range(t, refused[0])
        rows = sum(w.rows for w in written)
        told(rows, sum(w.size for w in written))
        durable.sync(folder)
        return rows, [folder / f for w in written for f in w.files]


@dataclass(frozen=True)
class WideMirrors:
    """Those of an engine: which they are, where files go, and what is done once these are there."""

    executors: Executors
    takes: Callable[[Table], bool]
    folder: Callable[[Table], Path]
    put: Callable[[Table, list[Path]], None]
    extra: str = ""
    held: bool = False

    def why_not(self, dsn: str) -> str:
        return self.executors.why_not(dsn)

    def load(self, t: Table, reading: RangedRead, told: Callable[[int, int], None]) -> int:
        rows, files = self.executors.copy(t, reading, self.folder(t), self.extra, self.held, told)
        self.put(t, files)
        return rows


def _asked(question: tuple[str, str]) -> str:
    """In an executor: whether it reaches the source, and writes where it is told."""
    dsn, file = question
    try:
        connect(dsn).close()
        Path(file).touch()
    except (TidemarkError, OSError) as e:
        return f"{socket.gethostname()}: {e}"
    return ""


def _copied(task: Task) -> Written:
    """In an executor. A task that is done again writes other files: what a lost one left is in no commit."""
    rows, files, sizes = 0, list[str](), [0]
    for r in task.ranges:
        name = f"{BASE}{uuid.uuid4().hex}.parquet"
        try:
            found = _range(task, r, Path(task.folder) / name, sizes)
        except ValueOutOfRange as e:
            return Written(column=e.column, message=e.message, detail=e.detail, hint=e.hint)
        rows += found
        files += [name] if found else []
    return Written(rows, sizes[0], tuple(files))


def _range(task: Task, r: Range, file: Path, sizes: list[int]) -> int:
    """One file; gives its rows."""
    t, of, con = task.table, task.reading, scratch()

    def read(rows: int, size: int) -> None:
        sizes[0] += size

    try:
        con.execute("SET threads = 1")  # a task has one core
        how = "CREATE TEMP TABLE typed AS"
        with closing(copy_table(of.dsn, of.snapshot, t, read, of.unread, r)) as pieces:
            for staged in pieces:
                con.register("staged", parsed(staged, t))
                cast_errors(t, staged, partial(con.execute, f"{how} SELECT {landing.values(t)} FROM staged"))
                con.unregister("staged")
                how = "INSERT INTO typed"
        if how.startswith("CREATE"):
            return 0
        query = f"SELECT *{task.extra} FROM typed"
        con.execute(copy(con, held(con, query) if task.held else to_delta(con, query), file))
        durable.sync(file)
        row = con.execute("SELECT count(*) FROM typed").fetchone()
        return int(row[0]) if row else 0
    finally:
        con.close()


def _out_of_range(t: Table, w: Written) -> ValueOutOfRange:
    error = ValueOutOfRange(w.message, code="value_out_of_range", detail=w.detail, hint=w.hint)
    error.table, error.column = t, w.column
    return error
