"""TPC-H's rows as a stream: they arrive one after the other, some are corrected, and some leave again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.pace.cardinality import Amounts
from connectors.duckdb.session import scratch
from connectors.staging import LSN, MET, PRESENT, SEQ, Staged

LARGER = 5  # times the scale of the others, for queries that do not read lineitem, which has most of the rows
CORRECTED, DELETED = 10, 5  # of a hundred rows: they come with other numbers first; they leave again


class Stream:
    """The events of a period: rows arrive at a random moment of it, and some change or leave at a later one."""

    def __init__(self, folder: Path, tables: Mapping[str, Table]) -> None:
        self.con, self.tables = scratch(), tables
        for name, t in tables.items():
            key = ", ".join(t.key)
            numbers = {c.name for c in t.columns if c.type.name == "numeric"} - set(t.key)
            first = ", ".join(f"{c.name} + 1 AS {c.name}" if c.name in numbers else c.name for c in t.columns)
            self.con.execute(
                f"CREATE TABLE raw_{name} AS SELECT *, hash({key}, 1) % 1000000 / 1e6 AS _u, "
                f"hash({key}, 2) % 1000000 / 1e6 AS _v, hash({key}, 3) % 100 AS _kind FROM '{folder}/{name}.parquet'"
            )
            cols = ", ".join(c.name for c in t.columns)
            later = "greatest(_u, _v) + 1e-7"
            self.con.execute(
                f"CREATE TABLE events_{name} AS SELECT {first}, true AS present, false AS met, _u AS moment FROM "
                f"raw_{name} WHERE _kind < {CORRECTED} UNION ALL SELECT {cols}, true, true, {later} FROM raw_{name} "
                f"WHERE _kind < {CORRECTED} UNION ALL SELECT {cols}, true, false, _u FROM raw_{name} WHERE _kind >= "
                f"{CORRECTED} UNION ALL SELECT {cols}, false, true, {later} FROM raw_{name} WHERE _kind >= "
                f"{100 - DELETED} ORDER BY moment"
            )
            self.con.execute(f"DROP TABLE raw_{name}")

    def rows(self, name: str) -> Amounts:
        row = self.con.execute(
            f"SELECT count(*) FILTER (NOT met), count(*) FILTER (met AND present), count(*) FILTER (NOT present) FROM "
            f"events_{name}"
        ).fetchone()
        assert row is not None
        return Amounts(*map(float, row))

    def between(self, t: Table, since: float, until: float, lsn: int) -> Staged | None:
        """The changes of a table, in its columns, after `since` up to `until`, of moments from 0 to 1, staged at the
        LSN; None without any."""
        values = ", ".join(f"CASE WHEN present THEN {c.name}::VARCHAR END AS c{i}" for i, c in enumerate(t.columns))
        keys = ", ".join(f"{k}::VARCHAR AS k{i}" for i, k in enumerate(t.key))
        got = self.con.execute(
            f"SELECT row_number() OVER (ORDER BY moment) AS {SEQ}, {lsn}::BIGINT AS {LSN}, present AS {PRESENT}, "
            f"met AS {MET}, {keys}, {values} FROM events_{t.name} WHERE moment > ? AND moment <= ?",
            [since, until],
        ).to_arrow_table()
        if not got.num_rows:
            return None
        text = pa.schema(
            [pa.field(f.name, pa.string_view() if pa.types.is_string(f.type) else f.type) for f in got.schema]
        )
        met = got.column(MET).to_numpy().any()
        return Staged(t, got.cast(text), True, False, not met)
