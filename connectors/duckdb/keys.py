"""The keys of partial views that somebody asked for: tables of the warehouse that batches read as they read mirrors."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from compiler.catalog import mirror_name
from compiler.ir.relation import Project
from compiler.ir.types import Type
from compiler.maintain.asked import SCHEMA, Asked
from compiler.maintain.kept import Accumulated, Bag, Held, Log, Recomputed
from compiler.maintain.plan import ViewPlan
from compiler.spelling.duckdb import type_name
from connectors.duckdb import mirror
from connectors.duckdb.mirror import q
from connectors.engine import Printer

KEY = 24  # bytes of a key itself
FEW = 32  # keys that are told as parameters: to register a table takes longer than to look up some keys
SAMPLE = 1_000  # rows of a state that tell how many bytes one has


def tables(con: duckdb.DuckDBPyConnection) -> set[str]:
    """Their names."""
    found = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'base' AND starts_with(table_name, ?)",
        [f"{SCHEMA}__"],
    )
    return {r[0] for r in found.fetchall()}


def create(con: duckdb.DuckDBPyConnection, asked: Asked) -> None:
    """The table, empty, where it is not there."""
    if asked.table.mirror not in tables(con):
        for s in mirror.drop(asked.table.mirror) + mirror.create(asked.table):
            con.execute(s)


def looked_up(con: duckdb.DuckDBPyConnection, asked: Asked, wanted: pa.Table) -> pa.Table:
    """Keys in the columns c0… as text: each once, without those that are NULL in a part, or of no value of the key's
    type; in `absent`, whether the table does not have them; and in `lsn`, from where on the rows of each agree with
    those of others, NULL where they always do."""
    there = " AND ".join(f"k.c{i} = b.{q(c.name)}" for i, c in enumerate(asked.columns))
    typed = ", ".join(f"TRY_CAST(c{i} AS {type_name(c.type)}) AS c{i}" for i, c in enumerate(asked.columns))
    found = ", ".join(f"{text(f'k.c{i}', c.type)} AS c{i}" for i, c in enumerate(asked.columns))
    some = " AND ".join(f"k.c{i} IS NOT NULL" for i in range(len(asked.columns)))
    before = (
        f"SELECT {found}, b.{q(asked.columns[0].name)} IS NULL AS absent, "
        f"{'b._seen_lsn' if asked.seen else 'NULL::BIGINT'} AS lsn FROM (SELECT DISTINCT {typed} FROM "
    )
    after = f") k LEFT JOIN base.{q(asked.table.mirror)} b ON {there} WHERE {some} ORDER BY ALL"
    if 0 < wanted.num_rows <= FEW and all(map(_plain, wanted.schema.types)):
        row = f"({', '.join('?' for _ in wanted.column_names)})"
        some_rows = f"(VALUES {', '.join([row] * wanted.num_rows)}) AS w({', '.join(wanted.column_names)})"
        values = [v for r in wanted.to_pylist() for v in r.values()]
        return con.execute(f"{before}{some_rows}{after}", values).to_arrow_table()
    con.register("wanted_keys", wanted)
    try:
        return con.execute(f"{before}wanted_keys{after}").to_arrow_table()
    finally:
        con.unregister("wanted_keys")


def _plain(t: pa.DataType) -> bool:
    """Whether a value is the same as a parameter."""
    return bool(pa.types.is_integer(t) or pa.types.is_string(t))


def text(column: str, t: Type) -> str:
    """A value as `from_text` reads it."""
    if t.name == "bool":
        return f"CASE WHEN {column} THEN 't' ELSE 'f' END"
    return f"CAST({column} AS VARCHAR)"


def held(con: duckdb.DuckDBPyConnection, asked: Asked) -> pa.Table:
    """The keys that are there."""
    columns = ", ".join(q(c.name) for c in asked.columns)
    return con.execute(f"SELECT {columns} FROM base.{q(asked.table.mirror)}").to_arrow_table()


def weight(con: duckdb.DuckDBPyConnection, plan: ViewPlan) -> tuple[int, int]:
    """How many keys there are, and about how many bytes their rows have."""
    assert plan.asked is not None
    keys = rows_of(con, f"base.{q(plan.asked.table.mirror)}")
    tables = [f"state.{q(s.name)}" for s, _ in _held(plan)]
    tables += [f"base.{q(mirror_name(t))}" for t in plan.by_key]
    return keys, KEY * keys + sum(rows_of(con, t) * row_bytes(con, t) for t in tables)


def _held(plan: ViewPlan) -> Iterator[tuple[Accumulated | Recomputed | Bag, Held]]:
    for s in plan.states:
        if not isinstance(s, Log) and s.held is not None:
            yield s, s.held


def weights(con: duckdb.DuckDBPyConnection, printer: Printer, plan: ViewPlan) -> pa.Table:
    """Of each key, as text in c0…, about how many bytes are kept for it, itself included: rows, times what a row of
    its state, or of a mirror that is for these keys alone, has, uncompressed."""
    assert plan.asked is not None
    names = [f"c{i}" for i in range(len(plan.asked.columns))]
    own = ", ".join(f"{q(c.name)} AS {n}" for n, c in zip(names, plan.asked.columns, strict=True))
    parts = [f"SELECT {own}, {KEY} AS bytes FROM base.{q(plan.asked.table.mirror)}"]
    for s, held_by in _held(plan):
        row = row_bytes(con, f"state.{q(s.name)}")
        by = {k.name: e for e, k in held_by.pairs}
        rows = Project(s.read(), tuple(zip(names, (by[k] for k in plan.asked.read().names), strict=True)))
        keys = printer.query(rows, weight=False)
        parts.append(f"SELECT {', '.join(names)}, {row} AS bytes FROM ({keys})")
    for t, columns in plan.by_key.items():
        table = f"base.{q(mirror_name(t))}"
        named = ", ".join(f"{q(c)} AS {n}" for n, c in zip(names, columns, strict=True))
        parts.append(f"SELECT {named}, {row_bytes(con, table)} AS bytes FROM {table}")
    shown = ", ".join(f"{text(n, c.type)} AS {n}" for n, c in zip(names, plan.asked.columns, strict=True))
    return con.execute(
        f"SELECT {shown}, sum(bytes)::BIGINT AS bytes FROM ({' UNION ALL '.join(parts)}) GROUP BY ALL"
    ).to_arrow_table()


def rows_of(con: duckdb.DuckDBPyConnection, table: str) -> int:
    row = con.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def row_bytes(con: duckdb.DuckDBPyConnection, table: str) -> int:
    """What a row has, from a sample."""
    some = con.execute(f"SELECT * FROM {table} LIMIT {SAMPLE}").to_arrow_table()
    return int(max(1, some.nbytes // max(1, some.num_rows)))
