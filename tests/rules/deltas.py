"""What a batch does to a view, as rows with weights: the program run on a DuckDB in memory, over a few rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb

from compiler.catalog import Catalog, Table
from compiler.maintain.differentiate import program
from compiler.maintain.plan import ViewPlan
from connectors.duckdb import mirror
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from tests.memory import warehouse

Row = tuple[Any, ...]
BEFORE: dict[str, list[Row]] = {
    "r": [(1, 1, 5, 1.25, "a"), (2, 1, 7, 2.5, "b"), (3, 2, 5, 5, "a"), (4, None, 9, 0.5, "c")],
    "s": [(1, 1, 6), (2, 2, 4), (3, 3, 8)],
    "bag": [(1, 1), (1, 1), (2, 5)],
}
BATCH: dict[str, list[tuple[Row, int]]] = {  # a row that moves, one that leaves and one that comes, in each table
    "r": [
        ((1, 1, 5, 1.25, "a"), -1),
        ((1, 2, 5, 1.25, "a"), 1),
        ((4, None, 9, 0.5, "c"), -1),
        ((5, 1, 8, 1, "b"), 1),
    ],
    "s": [((1, 1, 6), -1), ((1, 2, 6), 1), ((3, 3, 8), -1), ((4, 1, 3), 1)],
    "bag": [((1, 1), -1), ((2, 5), 1)],
}


def delta(plan: ViewPlan, catalog: Catalog) -> str:
    """The change of a view's rows, as a table: its columns, and a weight."""
    printer = Printer(DUCKDB)
    tables = list(catalog.tables.values())
    con = warehouse(tables)
    try:
        for t in tables:
            _put(con, t, Counter(BEFORE[t.name]))
        for s in plan.states:
            con.execute(printer.create_state(s))
            con.execute(printer.fill_state(s).sql)
        view = printer.view(plan)
        before = Counter(map(_shown, con.execute(view).fetchall()))
        for t in tables:
            now = Counter(BEFORE[t.name])
            for row, weight in BATCH[t.name]:
                now[row] += weight
                con.execute(f"INSERT INTO {mirror.batch(t)} VALUES ({', '.join('?' * (len(row) + 1))})", [*row, weight])
            con.execute(f"DELETE FROM base.{mirror.q(t.mirror)}")
            _put(con, t, now)
        for statement in printer.prepare(program([plan], plan.tables)).statements:
            con.execute(statement.sql)
        after = Counter(map(_shown, con.execute(view).fetchall()))
    finally:
        con.close()
    return _table([n for n, _ in plan.outputs], before, after)


def _put(con: duckdb.DuckDBPyConnection, t: Table, rows: Counter[Row]) -> None:
    for row, n in rows.items():
        if n:
            values = [*row, *([] if t.key else [n])]
            con.execute(f"INSERT INTO base.{mirror.q(t.mirror)} VALUES ({', '.join('?' * len(values))})", values)


def _shown(row: Row) -> tuple[str, ...]:
    return tuple("NULL" if v is None else str(v) for v in row)


def _table(names: list[str], before: Counter[tuple[str, ...]], after: Counter[tuple[str, ...]]) -> str:
    rows = [(*row, f"{w:+d}") for row in {*before, *after} if (w := after[row] - before[row])]
    lines = [(*names, "weight"), *sorted(rows, key=lambda r: (r[:-1], r[-1]))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(" | ".join(x.ljust(w) for x, w in zip(line, widths, strict=True)).rstrip() for line in lines)
