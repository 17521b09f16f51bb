"""Rows of bases by keys in tasks of executors: each finds those of some files by an index beside them, as the driver
does where it is the only machine, or scans these files and makes the index.

That needs executors that have Tidemark's Python packages, and see the warehouse where the driver does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from connectors.duckdb.session import scratch
from connectors.spark.driver import Driver
from connectors.spark.local.dist import Request
from connectors.spark.local.near import NearReader, index_files

AT_ONCE = 4  # parts of the work for each core of the cluster, so that one that is slow is not waited for alone
_READERS: dict[str, NearReader] = {}  # of an executor's process, by the folder of the Delta tables


@dataclass(frozen=True)
class Task:
    """Files that one index is of, and which request asks for their rows, in these columns, by those."""

    request: int
    files: tuple[str, ...]
    by: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """Rows, as a stream of Arrow; `awaited`: that an index will be there for, later."""

    request: int
    rows: bytes
    awaited: bool


def found(root: str, keys: list[bytes], task: Task) -> Found:
    """In an executor."""
    if root not in _READERS:
        _READERS[root] = NearReader(Path(root), shared=True)
        _READERS[root].con.execute("SET threads = 1")  # a task has one core
    reader = _READERS[root]
    files = [Path(f) for f in task.files]
    (rows,) = reader.rows([Request(files, task.by, task.columns, _read(keys[task.request]))])
    return Found(task.request, _sent(rows), reader.awaited)


class TaskReader:
    """A job of one stage a call. `root` is the folder of the Delta tables."""

    work = staticmethod(found)

    def __init__(self, driver: Driver, root: Path) -> None:
        self.driver, self.root = driver, root.absolute()
        self.indexes = index_files(root, scratch())  # deletes those of bases that are gone
        self.jobs = 0
        self.awaited = False

    def rows(self, requests: Sequence[Request]) -> list[pa.Table]:
        """Whatever Spark or a task raises is raised."""
        tasks: list[Task] = []
        for i, r in enumerate(requests):
            self.indexes.let_go(r)
            some = self.indexes.segments(r.files)
            tasks += [Task(i, tuple(map(str, files)), tuple(r.by), tuple(r.columns)) for files in some]
        keys = [_sent(r.keys) for r in requests]
        context = self.driver.session.sparkContext
        parts = min(len(tasks), AT_ONCE * context.defaultParallelism)
        work = partial(self.work, str(self.root), keys)
        done: list[Found] = context.parallelize(tasks, parts).map(work).collect()
        self.jobs += 1
        self.awaited = any(f.awaited for f in done)
        return [pa.concat_tables([_read(f.rows) for f in done if f.request == i]) for i in range(len(requests))]


def _sent(rows: pa.Table) -> bytes:
    with pa.BufferOutputStream() as sink:
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        data: bytes = sink.getvalue().to_pybytes()
        return data


def _read(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
