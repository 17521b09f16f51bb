"""What is in the warehouse against what is in the source, row by row; nothing here is Tidemark's own code."""

from __future__ import annotations

import datetime
import decimal
import json
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from faulting import delta
from faulting.schema import PARTIAL

Rows = Counter[tuple[str, ...]]


@dataclass
class Difference:
    """Rows of the source that are missing, and rows that are too many; `where` names what differs."""

    lost: int = 0
    doubled: int = 0
    where: list[str] = field(default_factory=list)

    def add(self, what: str, wanted: Rows, got: Rows) -> None:
        lost, doubled = wanted - got, got - wanted
        if lost or doubled:
            example = next(iter(lost or doubled))
            self.lost += lost.total()
            self.doubled += doubled.total()
            self.where.append(f"{what}: {lost.total()} missing, {doubled.total()} extra, such as {str(example)[:120]}")


def text(v: Any) -> str:
    """One spelling for equal values, whichever program they come from."""
    if v is None:
        return "∅"
    if isinstance(v, bool):
        return str(v).lower()
    if isinstance(v, (int, float, decimal.Decimal)):
        number = decimal.Decimal(str(v))
        return format(number.normalize(), "f") if number else "0"
    return v.isoformat() if isinstance(v, datetime.date) else str(v)


def bag(rows: list[tuple[Any, ...]]) -> Rows:
    return Counter(tuple(map(text, r)) for r in rows)


def weighted(rows: list[tuple[Any, ...]]) -> Rows:
    """Rows whose last value says how many of them there are."""
    out: Rows = Counter()
    for r in rows:
        out[tuple(map(text, r[:-1]))] += int(r[-1])
    return Counter({k: n for k, n in out.items() if n})


def opened(file: Path, folder: Path) -> duckdb.DuckDBPyConnection:
    """A copy of the warehouse's file and of its log of writes."""
    for f in (file, file.with_name(file.name + ".wal")):
        if f.exists():
            shutil.copy(f, folder / f.name)
    con = duckdb.connect(str(folder / file.name))
    con.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    con.execute("SET disabled_optimizers = 'row_group_pruner,compressed_materialization'")
    return con


def columns(c: psycopg.Connection, table: str, kept: dict[str, list[str]]) -> list[str]:
    """Those that its mirror has."""
    got = c.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
        "ORDER BY attnum",
        (table,),
    ).fetchall()
    return [str(r[0]) for r in got if r[0] in kept.get(f"public.{table}", [r[0]])]


def keys(c: psycopg.Connection, table: str) -> list[str]:
    """Its primary key's columns."""
    got = c.execute(
        "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY(indkey) "
        "WHERE indrelid = %s::regclass AND indisprimary",
        (table,),
    ).fetchall()
    return [str(r[0]) for r in got]


def tables_of(told: dict[str, Any]) -> dict[str, list[str]]:
    """engine → names of its mirrored tables."""
    return {e: [t.split(".", 1)[1] for t in names] for e, names in told["tables"].items()}


def rows(c: psycopg.Connection, table: str, names: list[str]) -> Rows:
    items = ", ".join(f'"{n}"' for n in names)
    return bag(c.execute(f'SELECT {items} FROM "{table}"'.encode()).fetchall())


def of_keys(c: psycopg.Connection, con: duckdb.DuckDBPyConnection, table: str, names: list[str], by: Any) -> Rows:
    """What the source has of a table, for the keys that the warehouse has of a view."""
    (column,) = by["columns"]
    asked = by["asked"].replace(".", "__")
    some = [r[0] for r in con.execute(f'SELECT * FROM base."{asked}"').fetchall()]
    items = ", ".join(f'"{n}"' for n in names)
    return bag(c.execute(f'SELECT {items} FROM "{table}" WHERE "{column}" = ANY(%s)'.encode(), (some,)).fetchall())


def kept(c: psycopg.Connection, con: duckdb.DuckDBPyConnection, view: str) -> Rows:
    """What the source has of a partial view, for the keys that the warehouse has."""
    tables = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'base' AND starts_with(table_name, ?)",
        [f"pg_asked__{view}_by_"],
    ).fetchall()
    keys = [r[0] for (t,) in tables for r in con.execute(f'SELECT * FROM base."{t}"').fetchall()]
    return bag(c.execute(f'SELECT * FROM "{view}" WHERE {PARTIAL[view]} = ANY(%s)'.encode(), (keys,)).fetchall())


def compare(dsn: str, warehouse: Path, views: dict[str, str], exported: Path | None = None) -> Difference:
    """Every view and every mirror; the source is at rest. Views of Spark are read from the files in `exported`."""
    out = Difference()
    with psycopg.connect(dsn) as c, tempfile.TemporaryDirectory() as folder:
        c.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for name, query in views.items():  # views over views are written with the others' names
            c.execute(f'CREATE TEMP VIEW "{name}" AS {query}'.encode())
        told = json.loads((warehouse / "deployment.json").read_text())
        mirrored, narrow, by_key = tables_of(told), told["columns"], told.get("by_key", {})
        file = warehouse / "tidemark.duckdb"
        local = warehouse / "delta" / "local.duckdb"
        if local.exists():
            file, mirrored = local, {"duckdb": mirrored["spark"], "local": mirrored["spark"]}
            narrow = {"duckdb": narrow["spark"], "local": narrow["spark"]}
            by_key = {"duckdb": by_key.get("spark", {})}
        con = opened(file, Path(folder)) if file.exists() else None
        for table in mirrored.get("duckdb", []):
            assert con is not None, "the warehouse has no file"
            names = columns(c, table, narrow["duckdb"])
            has = {
                r[0]
                for r in con.execute(
                    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'base' AND table_name = ?",
                    [table],
                ).fetchall()
            }
            items = ", ".join(f'"{n}"' for n in names) + (", _weight" if "_weight" in has else ", 1")
            got = con.execute(f'SELECT {items} FROM base."{table}"').fetchall()
            by = by_key.get("duckdb", {}).get(f"public.{table}")
            wanted = rows(c, table, names) if by is None else of_keys(c, con, table, names, by)
            out.add(f"mirror {table}", wanted, weighted(got))
        for table in mirrored.get("spark", []):
            names = columns(c, table, narrow["spark"])
            got = delta.rows(warehouse / "delta" / "mirror", table, names)
            out.add(f"mirror {table}", rows(c, table, names), weighted(got))
        for table in mirrored.get("local", []):
            if f"public.{table}" in by_key["duckdb"]:  # no copy for others
                continue
            names = columns(c, table, narrow["local"])
            got = delta.latest(warehouse / "delta" / "mirror", table, names, keys(c, table))
            out.add(f"mirror {table} in Delta", rows(c, table, names), weighted(got))
        for name in views:
            wanted = bag(c.execute(f'SELECT * FROM "{name}"'.encode()).fetchall())
            if name in PARTIAL:
                assert con is not None
                out.add(f"view {name}", kept(c, con, name), bag(con.execute(f'SELECT * FROM main."{name}"').fetchall()))
                continue
            if exported is not None:
                shown = duckdb.execute(
                    f"SELECT * FROM read_parquet('{exported}/{name}*/*.parquet', hive_partitioning = false)"
                ).fetchall()
            else:
                assert con is not None
                shown = con.execute(f'SELECT * FROM main."{name}"').fetchall()
            out.add(f"view {name}", wanted, bag(shown))
            if "local" in mirrored:
                out.add(f"view {name} in Delta", wanted, bag(delta.table(warehouse / "delta" / "views" / name)))
        if con is not None:
            con.close()
        c.rollback()
    return out
