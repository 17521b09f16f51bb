"""Staged changes to typed Parquet: an in-memory DuckDB casts Postgres' text, so both engines read it the same way."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from connectors.duckdb import landing, parquet
from connectors.duckdb.session import scratch
from connectors.duckdb.text import from_text
from connectors.duckdb.values import cast_errors
from connectors.literal_rows import parsed
from connectors.staging import Staged

FILE = "128MB"  # in which a table's rows are given to Spark


def _write(t: Table, rows: pa.Table, query: str, path: Path) -> int:
    con = scratch()
    con.register("arrived", parsed(rows, t))
    con.execute("CREATE TEMP TABLE staged AS SELECT * FROM arrived")
    found = [0]

    def run() -> None:
        found[0] = written(con, query, path)

    cast_errors(t, rows, run)
    con.close()
    return found[0]


def written(con: duckdb.DuckDBPyConnection, query: str, path: Path, group: int = 0) -> int:
    """A query's rows, in a file that Spark reads, in groups of so many; gives their number."""
    query, target = held(con, query), str(path).replace("'", "''")
    how = parquet.options(con.execute, query) + (f", ROW_GROUP_SIZE {group}" if group else "")
    con.execute(f"COPY ({query}) TO '{target}' ({how})")
    row = con.execute(f"SELECT count(*) FROM '{target}'").fetchone()
    return int(row[0]) if row else 0


def spread(con: duckdb.DuckDBPyConnection, query: str, folder: Path) -> None:
    """A query's rows, in files of a new folder that Spark reads."""
    query, target = held(con, query), str(folder).replace("'", "''")
    how = parquet.options(con.execute, query)
    con.execute(f"COPY ({query}) TO '{target}' ({how}, FILE_SIZE_BYTES '{FILE}')")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def interval_of(name: str) -> str:
    """The column of such a struct as an interval, under its name."""
    return f"{interval_from(quoted(name))} AS {quoted(name)}"


def intervals_of(name: str) -> str:
    """The same for an array of them."""
    return f"list_transform({quoted(name)}, x -> {interval_from('x')}) AS {quoted(name)}"


def interval_from(e: str) -> str:
    """DuckDB's interval from the struct that Spark keeps."""
    return f"CASE WHEN {e} IS NOT NULL THEN to_months({e}.months) + to_days({e}.days) + to_microseconds({e}.micros) END"


def struct_of(e: str) -> str:
    """The struct that Spark keeps for DuckDB's interval."""
    months = f"CAST(datepart('year', {e}) * 12 + datepart('month', {e}) AS INTEGER)"
    micros = f"datepart('hour', {e}) * 3600000000 + datepart('minute', {e}) * 60000000 + datepart('microsecond', {e})"
    return (
        f"CASE WHEN {e} IS NOT NULL THEN {{'months': {months}, 'days': CAST(datepart('day', {e}) AS INTEGER), "
        f"'micros': CAST({micros} AS BIGINT)}} END"
    )


def held(con: duckdb.DuckDBPyConnection, query: str) -> str:
    """The query with columns whose type Spark cannot read from Parquet in the form it keeps them."""
    items = []
    for name, type_, *_ in con.execute(f"DESCRIBE {query}").fetchall():
        c = quoted(name)
        match type_:
            case "UUID" | "TIME":
                c = f"CAST({c} AS VARCHAR) AS {c}"
            case "INTERVAL":
                c = f"{struct_of(c)} AS {c}"
            case "INTERVAL[]":
                c = f"list_transform({c}, x -> {struct_of('x')}) AS {c}"
            case "UUID[]" | "TIME[]":
                c = f"CAST({c} AS VARCHAR[]) AS {c}"
        items.append(c)
    return f"SELECT {', '.join(items)} FROM ({query})"


def typed_base(t: Table, rows: pa.Table, path: Path) -> int:
    """Text columns c0… to the table's columns."""
    return _write(t, rows, f"SELECT {landing.values(t)} FROM staged", path)


def typed_events(s: Staged, path: Path) -> int:
    """Changes with their values typed; of events on one key, the last. Gives their number."""
    return _write(s.table, s.rows, events(s), path)


def events(s: Staged, every: bool = False) -> str:
    """The changes in `staged`, typed; of events on one key, the last. With `every`, of each column whether its value
    is the mirror's, and the key to take it from, where none is."""
    t = s.table
    if not s.keyed:
        return f"SELECT {landing.values(t)}, _weight, _lsn FROM staged"
    key = [next(c for c in t.columns if c.name == k) for k in t.identity_key]
    keys = ", ".join(f"{from_text(f'k{i}', c.type)} AS _key_{i}" for i, c in enumerate(key))
    told = range(len(t.columns)) if every else s.unchanged
    kept = "".join(f", {f'u{i}' if i in s.unchanged else 'false'} AS _u{i}" for i in told)
    origin = ""
    if s.unchanged or every:
        of = [f"f{i}" if s.unchanged else f"CASE WHEN false THEN k{i} END" for i in range(len(key))]
        origin = "".join(f", {from_text(x, c.type)} AS _from_{i}" for i, (x, c) in enumerate(zip(of, key, strict=True)))
    return (
        f"WITH events AS (FROM staged) SELECT {keys}, {landing.values(t)}, _present, _lsn, _seq{kept}{origin} FROM "
        f"events WHERE {landing.last(s)}"
    )
