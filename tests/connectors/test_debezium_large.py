"""Transactions that are too large for memory, by Debezium: events wait in a file, and are applied part by part."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from compiler.catalog import Table
from connectors.debezium.spool import EventSpool, Room
from tests.pipelines.test_large_transactions import MOVES, SCHEMA, VIEWS
from tests.project import Project


def event(place: int, op: str = "c", lsn: int = 0, table: str = "t", note: str = "") -> bytes:
    """As Debezium writes them: the row's values come first."""
    source = {"name": "x", "lsn": lsn or place, "schema": "public", "table": table}
    return json.dumps(
        {"after": {"note": note, "place": place}, "source": source, "op": op}, separators=(",", ":")
    ).encode()


@pytest.mark.parametrize("memory", [1 << 20, 500, 0])
def test_events_come_back_once_and_in_order(tmp_path: Path, memory: int) -> None:
    chance = random.Random(memory)
    room = Room(tmp_path, memory)
    spools = [room.new() for _ in range(3)]
    for _ in range(300):
        place = chance.randrange(1, 80)
        chance.choice(spools).add(place, event(place, note='"source":{"schema":"a","table":"no"'))
    for s in spools:
        places = [json.loads(e)["after"]["place"] for e in s]
        assert places == sorted(set(places)) and len(places) == s.count
        if s.large:
            assert s.tables == {("public", "t")}
            assert [e for p in s.pieces(7, 1 << 20) for e in p] == list(s)
            assert s.changes(Table("public", "t", ())) and not s.changes(Table("a", "no", ()))
        s.close()
    assert room.held == 0 and not room.large and any(s.large for s in spools) is (memory <= 500)


def test_small_transactions_stay_in_memory(tmp_path: Path) -> None:
    """However many are open: each would be a file."""
    room = Room(tmp_path, 2 << 20)
    spools = [room.new() for _ in range(100)]
    for s in spools:
        s.add(1, event(1, note="x" * 50_000))
    assert room.held > room.memory and not any(s.large for s in spools)
    for i in range(60):
        spools[0].add(2 + i, event(2, note="x" * 50_000))
    assert [s.large for s in spools] == [True, *[False] * 99]
    for s in spools:
        s.close()
    assert room.held == 0


def test_a_changed_key_is_in_one_part(tmp_path: Path) -> None:
    s = Room(tmp_path, 0).new()
    for i in range(1, 40, 2):
        s.add(i, event(i, "d", lsn=i))
        s.add(i + 1, event(i + 1, "c", lsn=i))
    parts = list(s.pieces(5, 1 << 20))
    s.close()
    assert {len(p) for p in parts} == {6, 4}


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_every_kind_of_change(database: str, tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    large = []
    spill = EventSpool.spill

    def noted(self: EventSpool) -> None:
        large.append(self)
        spill(self)

    monkeypatch.setattr(EventSpool, "spill", noted)
    p = Project.create(tmp_path, database, VIEWS, engine, "debezium", local_memory="1GB")
    settings = p.home / "tidemark.toml"
    settings.write_text(settings.read_text() + '\n[batch]\nrows = 700\nmemory = "100KB"\n')
    p.source(*SCHEMA)
    p.deploy()
    chance = random.Random(engine)
    for _ in range(2):
        with psycopg.connect(database) as c:
            for _ in range(25):
                with suppress(psycopg.errors.UniqueViolation), c.transaction() as part:
                    c.execute(chance.choice(MOVES).format(k=chance.randrange(3)).encode())
                    if chance.random() < 0.2:
                        raise psycopg.Rollback(part)
        p.source("UPDATE p SET name = 'after' WHERE id = 1")
        p.catch_up()
        p.assert_equal()
    assert large and not list(p.config.warehouse_path.glob("tmp*"))
