"""Mirrors in Delta beside local states, driven without a source: what a fetch has to find, and rounds that are cut."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from compiler.catalog import Catalog, Column, Table, mirror_name, parse_type
from compiler.maintain.again import beside, touched
from compiler.maintain.differentiate import Same, program
from compiler.maintain.fetch import fetched
from compiler.maintain.plan import ViewPlan, states_of
from compiler.maintain.program import Prepared
from compiler.parse import parse_view
from compiler.view import compile_view
from connectors.spark.local import delta, index_files, rounds
from connectors.spark.local.engine import LocalEngine
from connectors.spark.local.near import NearReader
from connectors.staging import Staged
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

PRINTER = Printer(DUCKDB)
Row = tuple[str, ...]


def table(name: str, columns: dict[str, str], key: tuple[str, ...]) -> Table:
    return Table(
        "public", name, tuple(Column(n, parse_type(t), n in key) for n, t in columns.items()), key, "default", key
    )


def staged(t: Table, *events: tuple[Row, Row | None, bool]) -> Staged:
    """Of each key the row that it has now, and whether it had one before."""
    texts = {f"k{i}": [k[i] for k, _, _ in events] for i in range(len(t.identity_key))}
    texts |= {f"c{i}": [None if r is None else r[i] for _, r, _ in events] for i in range(len(t.columns))}
    rows = {n: pa.array(v, pa.string()).cast(pa.string_view()) for n, v in texts.items()}
    own = {"_seq": pa.array(range(len(events)), pa.int64()), "_lsn": pa.array([0] * len(events), pa.int64())}
    own |= {"_present": pa.array([r is not None for _, r, _ in events]), "_met": pa.array([m for _, _, m in events])}
    return Staged(t, pa.table({**own, **rows}), True, False, False)


@pytest.fixture(params=["scans", "indexes"], autouse=True)
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How bases are read: by scans alone, or from the second time on by an index."""
    monkeypatch.setattr(index_files, "LEAST", 0)
    monkeypatch.setattr(index_files, "SHARE", 0.0 if request.param == "indexes" else float("inf"))


class Warehouse:
    """Tables, all of them Dist but those of `near`, and one view; opened again by `again`."""

    def __init__(
        self, root: Path, query: str, tables: dict[Table, list[Row]], near: frozenset[str] = frozenset()
    ) -> None:
        self.root, self.tables, self.lsn = root, list(tables), 100
        self.dist = [t.mirror for t in tables if t.name not in near]
        catalog = Catalog({(t.schema, t.name): t for t in tables})
        text = parse_view(f"CREATE MATERIALIZED VIEW v AS {query}")
        assert text.query is not None
        self.plans: list[ViewPlan] = [compile_view("v", text.query, catalog)]
        self.again()
        for t, rows in tables.items():
            self.engine.create_mirror(t)
            cells = {f"c{i}": pa.array([r[i] for r in rows], pa.string()) for i in range(len(t.columns))}
            self.engine.load(t, [pa.table(cells)] if rows else [])
        for s in states_of(self.plans):
            self.engine.create_state(s)
        self.engine.create_view(self.plans[0])
        self.engine.set_frontier(self.lsn)

    def again(self) -> None:
        self.engine = LocalEngine(
            self.root, PRINTER, self.tables, self.plans, dist=self.dist, reader=NearReader(self.root)
        )
        self.prepared: dict[object, Prepared] = {}

    def programs(self, changed: frozenset[str], same: Same = frozenset()) -> Prepared:
        key = changed, self.engine.large(), same
        if key not in self.prepared:
            p = fetched(program(self.plans, changed, frozenset(), same), lambda t: mirror_name(t) in key[1])
            self.prepared[key] = PRINTER.prepare(p, touched(self.plans, changed), beside(self.plans, changed, same))
        return self.prepared[key]

    def batch(self, *changes: Staged) -> None:
        self.lsn += 10
        self.engine.apply(list(changes), self.lsn, self.programs, start=self.lsn - 10)

    def view(self) -> list[tuple[object, ...]]:
        return sorted(map(tuple, self.engine.con.execute("SELECT * FROM main.v").fetchall()), key=str)


def test_bytes_are_found(tmp_path: Path) -> None:
    t = table("t", {"h": "bytea", "n": "int", "x": "int"}, ("h", "n"))
    rows = [(h, str(n), "1") for h in (r"\xaa", r"\xbb", r"\x27", r"\x5c") for n in range(50)]
    w = Warehouse(tmp_path, "SELECT count(*) AS n, sum(x) AS s FROM t", {t: rows})
    for i, h in enumerate((r"\xaa", r"\x27", r"\x5c"), 1):
        w.batch(staged(t, ((h, "3"), (h, "3", "5"), True)))
        assert w.view() == [(200, 200 + 4 * i)]


@pytest.mark.parametrize("kind", ["int4[]", "text[]", "interval[]"])
def test_an_array_is_a_key(kind: str, tmp_path: Path) -> None:
    keys = {"int4[]": "{1,2}", "text[]": '{"a,b",NULL}', "interval[]": '{"1 day"}'}
    t = table("t", {"k": kind, "x": "int"}, ("k",))
    w = Warehouse(tmp_path, "SELECT count(*) AS n, sum(x) AS s FROM t", {t: [(keys[kind], "1")]})
    w.batch(staged(t, ((keys[kind],), (keys[kind], "7"), True)))
    assert w.view() == [(1, 7)]
    w.batch(staged(t, ((keys[kind],), None, True)))
    assert w.view() == [(0, None)]


def test_a_key_that_does_not_fit_meets_nothing(tmp_path: Path) -> None:
    t, o = table("t", {"id": "int4", "x": "int"}, ("id",)), table("o", {"id": "int", "ref": "int8"}, ("id",))
    query = "SELECT o.id, t.x FROM o LEFT JOIN t ON t.id = o.ref"
    w = Warehouse(tmp_path, query, {t: [("1", "10")], o: []}, near=frozenset(["o"]))
    w.batch(staged(o, (("1",), ("1", "1"), False), (("2",), ("2", "5000000000"), False)))
    assert w.view() == [(1, 10), (2, None)]


def test_a_fetch_that_was_put_off_is_no_index_that_is_missed(tmp_path: Path) -> None:
    o = table("o", {"id": "int", "a": "int"}, ("id",))
    a, b = (table(n, {"id": "int", "x": "int"}, ("id",)) for n in "ab")
    query = "SELECT o.id, b.x FROM o JOIN a ON a.id = o.a JOIN b ON b.id = a.x UNION ALL SELECT id, 1000 + id FROM o"
    w = Warehouse(tmp_path, query, {o: [], a: [("1", "1")], b: [("1", "7")]}, near=frozenset(["o"]))
    for i in range(2, 8):
        w.batch(staged(o, ((str(i),), (str(i), "99"), False)))
    w.batch(staged(o, (("9",), ("9", "1"), False)))
    assert w.view() == sorted([*((i, 1000 + i) for i in (*range(2, 8), 9)), (9, 7)], key=str)


class Cut(BaseException):
    """The process ends here."""


def test_a_base_that_was_written_and_not_published_is_taken_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LOG_ROWS", 50), ("EVERY", 0.0), ("SHARE", 0.0)):
        monkeypatch.setattr(rounds, name, value)
    t = table("t", {"id": "int", "x": "int"}, ("id",))
    w = Warehouse(tmp_path, "SELECT count(*) AS n, sum(x) AS s FROM t", {t: [(str(i), "1") for i in range(1000)]})

    def cut(name: str) -> None:
        if name == "local.committed":
            raise Cut

    reach: Callable[[str], None] = delta.reach
    monkeypatch.setattr(delta, "reach", cut)
    with pytest.raises(Cut):
        w.batch(staged(t, *(((str(i),), None, True) for i in range(240))))
    w.engine.close()
    monkeypatch.setattr(delta, "reach", reach)
    w.again()
    assert w.engine.frontier() == w.lsn
    grace = delta.GRACE
    for i, x in zip(itertools.count(500), ("5", "6", "7"), strict=False):
        monkeypatch.setattr(delta, "GRACE", -1.0 if i > 500 else grace)  # ten minutes pass
        w.batch(staged(t, ((str(i),), (str(i), x), True)))
    assert w.view() == [(760, 760 + 4 + 5 + 6)]
    w.engine.close()
    w.again()
    w.batch(staged(t, (("503",), ("503", "1"), True)))
    assert w.view() == [(760, 775)]
    w.engine.close()
