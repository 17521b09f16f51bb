"""The index of mirrors: it finds what is there, whatever batches did; where it has no room, answers are the same."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from compiler.errors import TidemarkError
from compiler.maintain.program import Does, Fetch, Statement
from connectors.duckdb import index, indexes
from connectors.duckdb.elsewhere import Nowhere
from connectors.duckdb.held import Held
from connectors.duckdb.index import Indexed, hashed
from connectors.duckdb.lending import Lending
from connectors.duckdb.mirror import batch_of
from connectors.duckdb.session import connect
from connectors.duckdb.statements import Statements
from connectors.duckdb.summed import Summed
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from tests.pipelines.running import running
from tests.project import Project

TYPES = {"a": "INTEGER", "b": "VARCHAR", "v": "BIGINT"}
PATHS = (("a",), ("a", "b"))
VIEWS = {
    "joined": "SELECT c.city, count(*) AS n, sum(o.amount) AS s FROM orders o JOIN customer c ON c.id = o.customer "
    "GROUP BY c.city",
    "extremes": "SELECT customer, min(amount) AS low, max(amount) AS high FROM orders GROUP BY customer",
    "lonely": "SELECT c.id, c.city FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "loose_by_city": "SELECT c.city, count(*) AS n, sum(l.v) AS s FROM loose l JOIN customer c ON c.id = l.customer "
    "GROUP BY c.city",
    "kept": "SELECT c.city, o.note FROM customer c LEFT JOIN orders o ON o.customer = c.id AND o.amount > 50",
}
SCHEMA = (
    "CREATE TABLE customer (id int PRIMARY KEY, city text)",
    "CREATE TABLE orders (id bigint PRIMARY KEY, customer int, amount numeric(8,2), note text)",
    "ALTER TABLE orders ALTER note SET STORAGE EXTERNAL",
    "CREATE TABLE loose (customer int, v int)",
    "ALTER TABLE loose REPLICA IDENTITY FULL",
    "INSERT INTO loose SELECT i % 70, i % 3 FROM generate_series(1, 300) i",
    "INSERT INTO customer SELECT i, 'city ' || i % 5 FROM generate_series(1, 60) i",
    "INSERT INTO orders SELECT i, i % 70, i % 97, repeat(md5(i::text), 100) FROM generate_series(1, 400) i",
)
CHANGES = (
    "UPDATE orders SET amount = amount + 1 WHERE id % 9 = {n}",
    "UPDATE orders SET customer = (customer + 7) % 70 WHERE id % 11 = {n}",
    "UPDATE orders SET id = id + 1000 WHERE id % 29 = {n}",
    "DELETE FROM orders WHERE id % 13 = {n}",
    "INSERT INTO orders SELECT 5000 * {k} + i, i % 70, i, NULL FROM generate_series(1, 30) i",
    "UPDATE customer SET city = 'city ' || (id + {n}) % 6 WHERE id % 7 = {n}",
    "DELETE FROM customer WHERE id % 31 = {n}",
    "INSERT INTO customer SELECT 100 * {k} + i, 'new' FROM generate_series(1, 3) i",
    "BEGIN; DELETE FROM orders WHERE id % 5 = {n}; INSERT INTO orders SELECT 7000 * {k} + i, i, 1, 'x' "
    "FROM generate_series(1, 5) i; UPDATE orders SET note = 'y' WHERE customer = {n}; COMMIT",
    "DELETE FROM loose WHERE ctid IN (SELECT ctid FROM loose WHERE customer % 7 = {n} LIMIT 9)",
    "INSERT INTO loose SELECT i % 70, {n} FROM generate_series(1, 20) i",
    "TRUNCATE customer",
    "ALTER TABLE orders REPLICA IDENTITY FULL",
)


def rows_of(i: Indexed, path: tuple[str, ...], keys: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    con = duckdb.connect()
    values = ", ".join(f"({', '.join(repr(x) if x is not None else 'NULL' for x in k)})" for k in keys)
    names = [f"k{n}" for n in range(len(path))]
    found = con.execute(
        f"SELECT {hashed(path, TYPES, names)} AS h FROM (VALUES {values}) AS t({', '.join(names)})"
    ).fetchnumpy()["h"]
    return sorted(map(tuple, (r.values() for r in i.find(path, found, TYPES).to_pylist())), key=repr)


def with_hashes(i: Indexed, rows: list[tuple[object, ...]]) -> pa.Table:
    con = duckdb.connect()
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR, v BIGINT)")
    if rows:
        con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    return con.execute(f"SELECT {i.select()} FROM t").to_arrow_table()


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_what_is_there_after_batches_and_after_those_taken_back(seed: int) -> None:
    chance, held, i, v = random.Random(seed), list[tuple[object, ...]](), Indexed(TYPES, PATHS), 0
    i.add(with_hashes(i, []), always=True)
    i.settle()
    for _ in range(40):
        gone = chance.sample(held, chance.randint(0, min(len(held), 6)))
        new = []
        for _ in range(chance.randint(0, 8)):
            v += 1
            new.append((chance.choice([None, 0, 1, 2, 3]), chance.choice([None, "x", "y"]), v))
        kept, places = [r for r in held if r not in gone], []
        for p in i.parts:
            alive = np.flatnonzero(p.alive)
            of = p.rows.column("v").to_pylist()
            places += [p.number * (1 << 32) + int(n) for n in alive if any(of[n] == r[2] for r in gone)]
        assert len(places) == len(gone)
        i.bury(np.array(places, dtype=np.int64))
        i.add(with_hashes(i, new))
        if chance.random() < 0.3:
            i.undo()
        else:
            held = kept + new
            i.settle()
        a, b = chance.choice([None, 0, 1, 9]), chance.choice([None, "x"])
        assert rows_of(i, ("a",), [(a,), (3,)]) == sorted((r for r in held if r[0] in (a, 3)), key=repr)
        assert rows_of(i, ("a", "b"), [(a, b)]) == sorted((r for r in held if r[:2] == (a, b)), key=repr)
    assert i.rows == len(held) and len(i.parts) < 8


@pytest.mark.parametrize(
    ("seed", "setting", "said"),
    [(1, "index_rows = 0", ""), (2, "index_rows = 0", ""), (1, 'index_rows = 0\nindex_memory = "1KB"', "no")],
)
def test_views_are_what_they_are_without_it(database: str, tmp_path: Path, setting: str, said: str, seed: int) -> None:
    chance, p = random.Random(seed), Project.create(tmp_path, database, VIEWS)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + f"\n[duckdb]\n{setting}\n")
    p.source(*SCHEMA)
    p.deploy()
    with running(p) as process:
        for k in range(1, 25):
            n = chance.randint(0, 8)
            p.source(*chance.choice(CHANGES).format(n=n, k=k).split("; "))
            if k % 8 == 0:
                done = p.command("verify")
                assert done.returncode == 0, done.stdout + done.stderr
        process.terminate()
        _, err = process.communicate(timeout=20)
    assert ("has no index" in err) == (said == "no"), err
    p.assert_equal()


def test_fetches_are_answered_by_it(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered, ask = [], indexes.Indexes.fetch

    def fetch(self: indexes.Indexes, target: str, f: Fetch) -> int | None:
        answered.append(ask(self, target, f))
        return answered[-1]

    monkeypatch.setattr(indexes, "FEW", 0)
    monkeypatch.setattr(indexes.Indexes, "fetch", fetch)
    chance, p = random.Random(3), Project.create(tmp_path, database, VIEWS)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*SCHEMA)
    p.deploy()
    for k in range(1, 13):
        p.source(*chance.choice(CHANGES[:-1]).format(n=chance.randint(0, 8), k=k).split("; "))
        p.catch_up()
    p.assert_equal()
    assert sum(n is not None for n in answered) > 5


def test_keys_may_come_from_a_mirror_as_it_was_before_a_batch_that_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is a view of the mirror and of a temp table, where the batch's rows have to be."""
    monkeypatch.setattr(indexes, "FEW", 0)
    con = connect(tmp_path / "w.duckdb", read_only=False)
    con.execute(
        "CREATE SCHEMA base; CREATE SCHEMA before; CREATE TABLE base.large AS SELECT i AS id FROM range(99) r(i)"
    )
    con.execute("CREATE TABLE base.little AS SELECT 5::BIGINT AS id")
    con.execute(f"CREATE TEMP TABLE {batch_of('little')} (id BIGINT, _weight BIGINT)")
    con.execute(
        "CREATE VIEW before.little AS SELECT id, 1 AS _weight FROM base.little "
        f"UNION ALL SELECT id, -_weight FROM {batch_of('little')}"
    )
    made = indexes.Indexes(con, 1 << 30, Held(con, Lending(con)))
    made.want("large", ["id"], ("id",))
    made.asked["large"] = 1 << 20
    made.make()
    statements = Statements(con, tmp_path, made, Nowhere(), Summed(con, Printer(DUCKDB), True))
    fetch = Fetch("large", ("id",), ("id",), "SELECT id AS _k0 FROM before.little", ("before.little",))
    reads = ("after.large", "before.little")
    for id in (7, 8):
        with made.held.batch(1):
            made.held.hold(batch_of("little"), pa.table({"id": [id], "_weight": [-1]}))
            assert statements.run(Statement(Does.FETCH, "found", "", reads, "found", "", fetch=fetch)) == 2
            assert sorted(made.held.read("SELECT id FROM found").fetchall()) == [(5,), (id,)]
    con.close()


def test_a_batch_that_is_not_stored_is_taken_out_of_it(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, VIEWS)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*SCHEMA)
    p.deploy()
    monkeypatch.setenv("TIDEMARK_FAILPOINTS", "duckdb.maintained=raise:4")
    with running(p):
        for n in range(8):
            p.source(f"UPDATE orders SET customer = {n}, amount = {n} WHERE id % 8 = {n}")
            p.command("query", "--wait", "SELECT count(*) FROM joined")
    monkeypatch.delenv("TIDEMARK_FAILPOINTS")
    p.assert_equal()


def test_an_index_that_lacks_rows_is_noticed(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle = index.Indexed.settle

    def forgetful(self: index.Indexed) -> None:
        settle(self)
        self.parts[0].alive[:50] = False

    monkeypatch.setattr(indexes, "FEW", 0)
    monkeypatch.setattr(index.Indexed, "settle", forgetful)
    p = Project.create(tmp_path, database, VIEWS)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*SCHEMA)
    p.deploy()
    p.source("UPDATE orders SET amount = 3 WHERE id < 100")
    with pytest.raises(TidemarkError, match="does not agree"):
        p.catch_up()
    monkeypatch.undo()
    p.assert_equal()


def test_what_fails_for_keys_sets_aside_its_view_alone(database: str, tmp_path: Path) -> None:
    failing = "SELECT c.city, count(*) AS n FROM coded o JOIN customer c ON c.id = o.code::int GROUP BY c.city"
    p = Project.create(tmp_path, database, {**VIEWS, "failing": failing})
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(*SCHEMA, "CREATE TABLE coded (id int PRIMARY KEY, code text)", "INSERT INTO coded VALUES (1, '7')")
    p.deploy()
    p.source("UPDATE coded SET code = 'x'", "UPDATE orders SET amount = 1 WHERE id = 6")
    p.catch_up()
    assert [v.name for v in p.deployed.views if v.error] == ["failing"]
    assert {v.view for v in p.verify() if v.equal and not v.mirror} == set(VIEWS)


def test_what_is_lent_is_not_filtered_by_arrow(tmp_path: Path) -> None:
    """DuckDB has Arrow tell which rows have one of some keys, and Arrow knows no infinite dates."""
    con = connect(tmp_path / "w.duckdb", read_only=False)
    dates = con.execute(
        "SELECT CAST(d AS DATE) AS d, i FROM (VALUES ('infinity'), ('-infinity'), ('2024-01-01'), ('0044-03-15 (BC)')) "
        "AS v(d), range(3) AS r(i)"
    ).to_arrow_table()
    lending = Lending(con)
    con.execute("CREATE TEMP TABLE keys AS SELECT DATE 'infinity' AS d UNION ALL SELECT DATE '0044-03-15 (BC)'")
    late = "d > '2024-01-01' OR d < '0001-01-01'"
    for where in ("d IN ('infinity', '0044-03-15 (BC)')", "d IN (SELECT d FROM keys)", late):
        with lending.table("dates", dates) as source:
            found = lending.execute(f"SELECT count(*) FROM {source} WHERE {where}").fetchall()[0][0]
        assert found == (9 if where == late else 6), where
    con.close()
