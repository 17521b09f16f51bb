"""What a small batch makes is held as Arrow: statements that read it are prepared, and answer as if they were not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from connectors.duckdb import held
from connectors.duckdb.held import Held, Reads, reads_of
from connectors.duckdb.lending import Lending
from connectors.duckdb.session import connect
from tests.dialects.test_prepared_statements import CASES

X, ALONE = Reads(("x",)), Reads(("x",), True)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Held]:
    con = connect(tmp_path / "w.duckdb", read_only=False)
    yield Held(con, Lending(con))
    con.close()


def rows(made: Held, query: str) -> pa.Table:
    return made.con.execute(query).to_arrow_table()


@pytest.mark.parametrize("case", CASES)
def test_a_prepared_statement_over_it_knows_nothing_of_earlier_rows(made: Held, case: str) -> None:
    before, query, after = CASES[case]
    query = query.replace("FROM a", "FROM x")
    for values in (before, before, f"SELECT * FROM (VALUES {after}) v(c)", before, "SELECT 1::BIGINT AS c LIMIT 0"):
        with made.batch(1):
            made.hold("x", rows(made, f"SELECT c::BIGINT AS c FROM ({values})"))
            expected = made.con.execute(f"SELECT * FROM ({query.replace('FROM x', f'FROM ({values}) v')})").fetchall()
            assert made.read(query, ALONE).fetchall() == expected
    assert len(made.plans) == 1


def test_joins_groups_windows_and_limits_answer_alike_whatever_comes(made: Held) -> None:
    """Each statement is prepared once, and run with other rows each time."""
    chance = random.Random(1)
    queries = (
        "SELECT o.k, count(*) AS n, sum(o.v) AS s, min(o.d) AS d FROM x o JOIN x n ON o.k = n.k GROUP BY o.k",
        "SELECT k, v FROM (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, d) AS i FROM x) WHERE i = 1",
        "SELECT * FROM x WHERE k IN (SELECT k FROM y) UNION ALL SELECT * FROM x ANTI JOIN y USING (k)",
        "WITH a AS (SELECT DISTINCT k FROM x), b AS (SELECT k FROM a UNION SELECT k FROM y) SELECT count(*) FROM b",
        "WITH RECURSIVE r AS (SELECT k FROM x UNION SELECT r.k + 1 FROM r WHERE r.k < 12) SELECT k FROM r",
        "SELECT x.k, (SELECT max(y.v) FROM y WHERE y.k = x.k) AS m FROM x",
        "SELECT sum(v) FILTER (WHERE v > 3) AS s, count(DISTINCT k) AS n, (SELECT count(*) FROM y) AS c FROM x",
        "SELECT * FROM (SELECT k, v, d FROM x ORDER BY v DESC, k, d LIMIT 3) UNION ALL FROM y WHERE k > 4",
    )
    both = Reads(("x", "y"), True)
    for _ in range(30):
        with made.batch(1):
            for name in ("x", "y"):
                n = chance.choice([0, 1, 3, 40, 3_000])
                made.hold(
                    name,
                    rows(
                        made,
                        f"SELECT (hash(i, {chance.random()}) % {chance.choice([1, 7, 5000])})::BIGINT AS k, "
                        f"nullif(hash(i) % 11, {chance.randint(0, 11)})::DECIMAL(12,2) AS v, "
                        f"DATE '2024-01-01' + (i % 5)::INTEGER AS d FROM range({n}) r(i)",
                    ),
                )
            for query in queries:
                got = made.read(query, both).fetchall()
                with duckdb.connect() as fresh:
                    for name in ("x", "y"):
                        fresh.register("held_rows", made.rows[name])
                        fresh.execute(f"CREATE TABLE {name} AS SELECT * FROM held_rows")
                    expected = fresh.execute(query).fetchall()
                assert sorted(got, key=repr) == sorted(expected, key=repr), query
    assert len(made.plans) == len(queries)


def test_infinite_dates_are_found(made: Held) -> None:
    query = "SELECT count(*) FROM x WHERE d > '2024-01-01' OR d < '0001-01-01'"
    for _ in range(3):
        with made.batch(1):
            values = "VALUES ('infinity'), ('-infinity'), ('2024-01-01'), ('0044-03-15 (BC)')"
            made.hold("x", rows(made, f"SELECT CAST(d AS DATE) AS d FROM ({values}) v(d)"))
            assert made.read(query, ALONE).fetchall() == [(3,)]


def test_other_columns_are_another_statement(made: Held) -> None:
    for kind, more in (("BIGINT", ""), ("BIGINT", ""), ("INTEGER", ""), ("BIGINT", ", 1 AS more"), ("VARCHAR", "")) * 2:
        with made.batch(1):
            made.hold("x", rows(made, f"SELECT 7::{kind} AS c{more}"))
            assert str(made.read("SELECT c FROM x", ALONE).fetchall()[0][0]) == "7"


def test_what_reads_a_table_is_planned_each_time(made: Held) -> None:
    made.con.execute("CREATE TABLE t AS SELECT -1::BIGINT AS c")
    for n in range(4):
        with made.batch(1):
            made.hold("x", rows(made, "SELECT 1::BIGINT AS c"))
            assert made.read("SELECT count(*) FROM t, x WHERE t.c > 0", X).fetchall() == [(n,)]
            assert made.run("INSERT INTO t SELECT c FROM x", ALONE) == 1
    assert len(made.plans) == 1  # the INSERT: it reads what is held alone


def test_an_append_is_planned_again_when_its_table_is_another(made: Held) -> None:
    for columns in ("c BIGINT", "c BIGINT", "c BIGINT, d INTEGER DEFAULT 7"):
        made.con.execute(f"CREATE OR REPLACE TABLE t ({columns})")
        for _ in range(2):
            with made.batch(1):
                made.hold("x", rows(made, "SELECT 1::BIGINT AS c"))
                made.run("INSERT INTO t (c) SELECT c FROM x", ALONE)
        assert [r[0] for r in made.con.execute("SELECT c FROM t").fetchall()] == [1, 1]


@pytest.mark.parametrize("kind", ["HUGEINT", "INTERVAL", "UUID", "TIMETZ", "BLOB", "TIME", "BIT", "INTEGER[]"])
def test_types_that_arrow_has_otherwise_are_kept_in_tables(made: Held, kind: str) -> None:
    value = {"UUID": "gen_random_uuid()", "TIMETZ": "'10:00:00+05:30'", "BLOB": "'x'", "TIME": "'10:00'", "BIT": "'1'"}
    one = value.get(kind, "[1]" if kind.endswith("]") else "INTERVAL 1 DAY" if kind == "INTERVAL" else "1")
    made.con.execute(f"CREATE TABLE t AS SELECT CAST({one} AS {kind}) AS c")
    with made.batch(1):
        assert made.make("x", "SELECT c FROM t") == 1
        assert "x" not in made.rows
        assert made.make("y", "SELECT typeof(c) AS kind FROM x", ALONE) == 1
        there = made.con.execute("SELECT typeof(c) FROM t").fetchall()
        assert made.read("SELECT kind FROM y", Reads(("y",), True)).fetchall() == there


def test_many_rows_are_a_table(made: Held) -> None:
    for n in (held.MOST, held.MOST + 1, 3 * held.MOST, 1):
        with made.batch(1):
            assert made.make("x", f"SELECT i FROM range({n}) r(i)") == n
            assert ("x" in made.rows) == (n <= held.MOST)
            assert made.read("SELECT count(*), sum(i)::BIGINT FROM x", ALONE).fetchall() == [(n, n * (n - 1) // 2)]
    with made.batch(held.SMALL + 1):
        made.make("x", "SELECT 5 AS i")
        assert not made.rows and made.con.execute("SELECT i FROM x").fetchall() == [(5,)]


def test_nobody_reads_the_table_of_an_earlier_batch(made: Held) -> None:
    made.make("x", "SELECT 1 AS c")
    with made.batch(1):
        made.make("x", "SELECT 2 AS c")
        with pytest.raises(duckdb.CatalogException):
            made.con.execute("SELECT * FROM x")
    made.con.execute("BEGIN")
    made.make("x", "SELECT 3 AS c")
    made.con.execute("COMMIT")
    made.con.execute("BEGIN")
    with made.batch(1):
        made.make("x", "SELECT 4 AS c")
        made.con.execute("ROLLBACK")  # the temp table is there again
        made.forget()
    with made.batch(1):
        made.make("x", "SELECT 5 AS c")
        with pytest.raises(duckdb.CatalogException):
            made.con.execute("SELECT * FROM x")
        made.store("x")
        assert made.con.execute("SELECT * FROM x").fetchall() == [(5,)]


def test_mirrors_come_on_several_threads_at_once(made: Held) -> None:
    """A deploy copies tables so. What is prepared is dropped by the batch that comes next, and found nowhere after."""
    query = "SELECT c + {} AS c FROM x"
    for _ in range(2):
        with made.batch(1):
            made.hold("x", pa.table({"c": [1]}))
            assert [made.read(query.format(i), ALONE).fetchall() for i in range(300)] == [
                [(1 + i,)] for i in range(300)
            ]
    assert len(made.plans) == 300
    with ThreadPoolExecutor(8) as pool:
        for job in [pool.submit(made.renew) for _ in range(64)]:
            job.result()
    with made.batch(1):
        assert not made.plans and not made.seen
        assert made.con.execute("SELECT count(*) FROM duckdb_prepared_statements()").fetchall() == [(0,)]
        made.hold("x", pa.table({"c": [2]}))
        assert made.read(query.format(1), ALONE).fetchall() == [(3,)]


def test_what_is_said_of_a_statement() -> None:
    assert reads_of(["delta.t", "step"]) == Reads(("batch_t", "step"), True)
    assert reads_of(["delta.t", "before.t", "step"]) == Reads(("batch_t", "step"), False)
    assert not reads_of(["state.s"]).alone and not reads_of(["after.t"]).alone
