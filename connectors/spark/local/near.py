"""Rows of bases by keys where the executors are this machine, in no job: by indexes, or DuckDB reads the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import duckdb
import pyarrow as pa

from connectors.duckdb.session import scratch
from connectors.spark.landing import quoted
from connectors.spark.local.dist import Request
from connectors.spark.local.index_files import IndexFiles
from connectors.spark.local.stored import parquet

FOLDER = "index"


def index_files(root: Path, con: duckdb.DuckDBPyConnection, shared: bool = False) -> IndexFiles:
    """Those of the warehouse whose Delta tables are in `root`."""
    return IndexFiles(root.absolute() / FOLDER, root.absolute(), con, shared)


class NearReader:
    """For a master of `local[…]`: the same rows as by Spark, at a tenth of what its job takes, and where an index is
    there, at a hundredth. `root` is the folder of the Delta tables, in which indexes are made; without it there are
    none. `shared`: other processes make them, too."""

    def __init__(self, root: Path | None = None, shared: bool = False) -> None:
        self.con = scratch()
        self.con.execute("SET parquet_metadata_cache = true; SET preserve_insertion_order = false")
        self.indexes = index_files(root, self.con, shared) if root is not None else None
        self.awaited = False  # whether some of what was read last will be found by an index, later

    def rows(self, requests: Sequence[Request]) -> list[pa.Table]:
        self.awaited = False
        return [self._rows(r) for r in requests]

    def _rows(self, r: Request) -> pa.Table:
        found, rest = self.indexes.find(r) if self.indexes is not None else ([], r.files)
        out = [pa.Table.from_batches(found)] if found else []
        if rest or not out:
            begun = perf_counter()
            out.append(self._scanned(r, rest))
            if self.indexes is not None and self.indexes.scanned(r, rest, perf_counter() - begun):
                self.awaited = True
        return pa.concat_tables(out)

    def _scanned(self, r: Request, files: Sequence[Path]) -> pa.Table:
        same = "IS NOT DISTINCT FROM" if any(c.null_count for c in r.keys.columns) else "="
        on = " AND ".join(f"b.{quoted(c)} {same} k._k{i}" for i, c in enumerate(r.by))
        items = ", ".join(f"b.{quoted(c)}" for c in r.columns)
        self.con.register("keys", r.keys)
        found = self.con.execute(f"SELECT {items} FROM {parquet(files)} b SEMI JOIN keys k ON {on}")
        rows = found.to_arrow_table()
        self.con.unregister("keys")
        return rows
