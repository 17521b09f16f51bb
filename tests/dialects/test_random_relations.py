"""The SQL means the IR: run by DuckDB over a mirror and a batch, it gives what the interpreter gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compiler.catalog import Column, Table
from compiler.delta.rules import Deltas
from compiler.delta.times import after, before
from compiler.ir.evaluate import evaluate
from compiler.ir.relation import Agg, Aggregate, Relation
from compiler.ir.scalar import Call
from compiler.ir.types import INT4, INT8, numeric
from compiler.ir.zset import Database, ZSet, add
from dialects.duckdb import DUCKDB
from dialects.lower import lowering
from tests.compiler.maintain.strategies import COLUMNS, TABLES, databases, queries
from tests.memory import warehouse

FEW = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    c = warehouse(Table("public", t.split(".")[1], tuple(Column(n, INT4) for n in COLUMNS), (), "full") for t in TABLES)
    yield c
    c.close()


def fill(c: duckdb.DuckDBPyConnection, db: Database) -> None:
    """The mirror has taken the batch already; the batch table holds it too."""
    for t in TABLES:
        name = t.split(".")[1]
        for table in (f"base.{name}", f"batch_{name}"):
            c.execute(f"DELETE FROM {table}")
        for row, w in add(db.before[t], db.delta[t]).items():
            c.execute(f"INSERT INTO base.{name} VALUES (?, ?, ?)", [*row, w])
        for row, w in db.delta[t].items():
            c.execute(f"INSERT INTO batch_{name} VALUES (?, ?, ?)", [*row, w])


def run(c: duckdb.DuckDBPyConnection, r: Relation) -> ZSet:
    sql = DUCKDB.sql(lowering(DUCKDB).query(r, weight=True))
    note(sql)
    out: ZSet = {}
    for *row, w in c.execute(sql).fetchall():
        key: tuple[Any, ...] = tuple(row)
        out[key] = out.get(key, 0) + int(w)
    return {k: w for k, w in out.items() if w}


@FEW
@given(q=queries(), db=databases())
def test_sql_of_a_query_means_the_query(con: duckdb.DuckDBPyConnection, q: Relation, db: Database) -> None:
    fill(con, db)
    assert run(con, after(q)) == evaluate(after(q), db)


@FEW
@given(q=queries(), db=databases())
def test_sql_of_a_delta_means_the_delta(con: duckdb.DuckDBPyConnection, q: Relation, db: Database) -> None:
    fill(con, db)
    delta = Deltas(frozenset(TABLES)).delta(q)
    assert run(con, delta) == evaluate(delta, db)


@FEW
@given(q=queries(depth=2), db=databases(), data=st.data())
def test_sql_of_accumulators_means_them(
    con: duckdb.DuckDBPyConnection, q: Relation, db: Database, data: st.DataObject
) -> None:
    """Groups whose rows came with the batch were not there before it, whatever their sums say."""
    c = data.draw(st.sampled_from(q.schema))
    total = Agg("sum0", (Call("cast", (c,), INT8),), numeric(38, 0))
    grouped = Aggregate(
        q, (("g", data.draw(st.sampled_from(q.schema))),), (("n", Agg("count", (c,), INT8)), ("s", total))
    )
    fill(con, db)
    delta = Deltas(frozenset(TABLES)).delta(grouped)
    for r in (before(grouped), after(grouped), delta):
        assert run(con, r) == evaluate(r, db)
