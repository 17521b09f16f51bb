"""The mirrors of a Spark warehouse: made and filled."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from compiler.catalog import Table
from compiler.spelling.spark import type_name
from connectors.duckdb import mirror as own
from connectors.duckdb.session import attached, scratch
from connectors.spark import mirror
from connectors.spark.landing import spread, typed_base
from connectors.spark.store import Store


class Mirrors:
    """One Delta table a source table."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, t: Table, some_keys: bool = False) -> None:
        assert not some_keys, "executors keep tables whole"
        self.store.tables[f"{t.schema}.{t.name}"] = t
        self.drop(t.mirror)
        self.store.sql(mirror.create(t, self.store.mirror(t)))
        self.store.published.publish([f"mirror/{t.mirror}"])

    def drop(self, name: str) -> None:
        self.store.published.withdraw([f"mirror/{name}"])
        shutil.rmtree(self.store.path / "mirror" / name, ignore_errors=True)

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Rows are cast by an in-memory DuckDB, stored as Parquet beside the warehouse, and read from there by
        Spark."""
        folder, files, n = self.loading(t), list[Path](), 0
        for i, rows in enumerate(batches):
            files.append(folder / f"{i}.parquet")
            typed_base(t, rows, files[-1])
            n += rows.num_rows
        self.take(t, files if n else [])
        return n

    def adopt(self, t: Table, file: Path) -> None:
        """Fill an empty mirror from that of a file of DuckDB, which is closed and may have more columns."""
        folder = self.store.path / "loading" / t.mirror
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        con = scratch()
        try:
            with attached(con, file) as name:
                weight = "" if t.key else ", _weight"
                spread(con, f"SELECT {own.columns(t)}{weight} FROM {name}.base.{own.q(t.mirror)}", folder)
            con.close()
            self._insert(t, folder, "SUM(_weight)")
        finally:
            con.close()
            shutil.rmtree(folder, ignore_errors=True)

    def loading(self, t: Table) -> Path:
        """An empty folder for files that are then taken."""
        folder = self.store.path / "loading" / t.mirror
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def take(self, t: Table, files: list[Path]) -> None:
        """Fill an empty mirror from typed files in that folder."""
        if files:
            self._insert(t, files[0].parent, "COUNT(*)")
        shutil.rmtree(self.store.path / "loading" / t.mirror, ignore_errors=True)

    def _insert(self, t: Table, folder: Path, weight: str) -> None:
        """The rows of typed files; `weight`: how many equal ones there are, of a table without a key."""
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)})" for c in t.columns)
        total = (
            f"SELECT {casts}, 1, 0, FALSE FROM parquet.`{folder}`"
            if t.key
            else f"SELECT {casts}, {weight}, 0, FALSE FROM parquet.`{folder}` GROUP BY {mirror.columns(t)}"
        )
        self.store.sql(f"INSERT INTO {mirror.path_name(self.store.mirror(t))} {total}")
        self.store.published.publish([f"mirror/{t.mirror}"])
