"""Who may read a slot, and when; what a snapshot is held against."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from compiler.errors import TidemarkError
from connectors.postgres import stream
from connectors.postgres.connection import SourceUnreachable, connect
from connectors.postgres.snapshot import ExportedSnapshot
from connectors.postgres.stream import Limits, SlotUnavailable, Stream

SLOT = "stream_test"


@pytest.fixture
def slot(database: str) -> Iterator[str]:
    with connect(database) as c:
        c.execute("CREATE PUBLICATION stream_test")
        c.execute("SELECT pg_create_logical_replication_slot('stream_test', 'pgoutput')")
    yield database


def test_a_slot_that_its_last_reader_is_letting_go_of_is_waited_for(slot: str) -> None:
    first = Stream(slot, SLOT, SLOT)
    leaving = threading.Timer(0.5, first.close)
    leaving.start()
    Stream(slot, SLOT, SLOT).close()
    leaving.join()


def test_a_slot_that_another_reader_keeps_is_an_error(slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "RELEASE", 0.3)
    first = Stream(slot, SLOT, SLOT)
    with pytest.raises(SlotUnavailable, match="cannot be read") as e:
        Stream(slot, SLOT, SLOT)
    assert "Another tidemark run holds it" in e.value.hint
    first.close()


def test_a_reader_that_is_busy_for_long_is_not_cut_off(slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT", 0.2)
    s = Stream(slot + " options='-c wal_sender_timeout=1s'", SLOT, SLOT)
    time.sleep(2.5)
    assert s.receive(Limits(), 0.2).frames == []
    s.close()


def test_a_connection_that_breaks_is_told(slot: str) -> None:
    s = Stream(slot, SLOT, SLOT)
    with connect(slot) as c:
        c.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = 'stream_test'")
    with pytest.raises(SourceUnreachable, match="closed the replication stream"):
        s.receive(Limits(), 5)
    s.acknowledge(1)
    with pytest.raises(SourceUnreachable, match="closed the replication stream"):
        s.receive(Limits(), 5)
    s.close()


def test_a_table_truncated_beside_a_snapshot_has_another_one_taken(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(database) as c:
        c.execute("CREATE TABLE t (id int)")
        c.execute("CREATE TABLE p (id int) PARTITION BY LIST (id)")
        c.execute("CREATE TABLE p1 PARTITION OF p DEFAULT")
        real, times = ExportedSnapshot._lock, iter(("t", "p1"))

        def late(self: ExportedSnapshot, tables: list[str]) -> None:
            if (name := next(times, None)) is not None:
                c.execute(f"TRUNCATE {name}")  # type: ignore[arg-type]
            real(self, tables)

        monkeypatch.setattr(ExportedSnapshot, "_lock", late)
        first = ExportedSnapshot(database, "snap_test", ["t", "p", "gone"])
        row = c.execute("SELECT count(*), bool_and(restart_lsn IS NOT NULL) FROM pg_replication_slots WHERE slot_name = 'snap_test'").fetchone()
        assert row == (1, True) and next(times, None) is None
        c.execute("SET lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            c.execute("TRUNCATE t")
        first.close()
        c.execute("TRUNCATE t")


def test_tables_truncated_all_the_time_are_an_error_without_a_slot_left(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(database) as c:
        c.execute("CREATE TABLE t (id int)")
        real = ExportedSnapshot._lock

        def late(self: ExportedSnapshot, tables: list[str]) -> None:
            c.execute("TRUNCATE t")
            real(self, tables)

        monkeypatch.setattr(ExportedSnapshot, "_lock", late)
        with pytest.raises(TidemarkError, match="truncated or rewritten all the time"):
            ExportedSnapshot(database, "snap_test", ["t"])
        assert c.execute("SELECT 1 FROM pg_replication_slots WHERE slot_name = 'snap_test'").fetchall() == []
