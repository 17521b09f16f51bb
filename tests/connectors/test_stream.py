"""Who may read a slot, and when; what a snapshot tells."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from psycopg import conninfo

from connectors.postgres import stream
from connectors.postgres.connection import SourceUnreachable, connect
from connectors.postgres.origin import Origin, ask_server, identify
from connectors.postgres.replication import open_replication
from connectors.postgres.snapshot import ExportedSnapshot
from connectors.postgres.stream import SlotUnavailable, Stream
from connectors.postgres.transactions import Limits, Received
from pipelines.applying.capture import current_lsn

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


def inserts(got: Received) -> int:
    return sum(frame[25:26] == b"I" for frame in got.frames)


def test_where_batches_are_slow_to_apply_more_is_collected_for_one(slot: str) -> None:
    def write(*ids: int) -> None:
        with connect(slot) as c:
            for i in ids:
                c.execute("INSERT INTO t VALUES (%s)", (i,))

    with connect(slot) as c:
        c.execute("CREATE TABLE t (id int PRIMARY KEY)")
        c.execute("ALTER PUBLICATION stream_test ADD TABLE t")
    write(*range(30))
    target = current_lsn(slot)
    for limits, until, want in (
        (Limits(seconds=0), target, 1),
        (Limits(seconds=0, collect=60), target, 30),
        (Limits(collect=2), None, 31),
    ):
        s = Stream(slot, SLOT, SLOT)
        later = threading.Timer(0.5, write, [100])
        if until is None:
            later.start()
        assert inserts(s.receive(limits, 0.1 if until is None else 20, until)) == want
        s.close()
    later.join()


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


def test_a_snapshot_tells_of_tables_truncated_or_rewritten_since(database: str) -> None:
    with connect(database) as c:
        for q in (
            "CREATE TABLE t (id int)",
            "CREATE TABLE u (id int)",
            "CREATE TABLE p (id int) PARTITION BY LIST (id)",
            "CREATE TABLE p1 PARTITION OF p DEFAULT",
        ):
            c.execute(q)  # type: ignore[arg-type]
        s = ExportedSnapshot(database, "snap_test", ['"t"', "u", "p", "gone"], temporary=True)
        assert s.rewritten() == set()
        c.execute("INSERT INTO t VALUES (1)")
        c.execute("TRUNCATE u")
        assert s.rewritten() == {"u"}
        c.execute("TRUNCATE p1")
        c.execute("ALTER TABLE t ALTER id TYPE text")
        assert s.rewritten() == {'"t"', "u", "p"}
        s.close()


class Cutting:
    """Between us and the server: cuts the connection once these bytes are asked."""

    def __init__(self, dsn: str, at: bytes) -> None:
        told = conninfo.conninfo_to_dict(dsn)
        self.at, self.server = at, (str(told.get("host", "127.0.0.1")), int(told.get("port", 5432)))
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.dsn = conninfo.make_conninfo(dsn, host="127.0.0.1", port=self.listening.getsockname()[1])
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        here, _ = self.listening.accept()
        with here, socket.create_connection(self.server) as there:
            while True:
                for s in select.select([here, there], [], [])[0]:
                    data = s.recv(65536)
                    if not data or (s is here and self.at in data):
                        return
                    (there if s is here else here).sendall(data)


@pytest.mark.parametrize("at", [b"IDENTIFY_SYSTEM", b"START_REPLICATION"])
def test_a_connection_that_breaks_under_a_command_is_told(slot: str, at: bytes) -> None:
    """So that it is opened again: no statement was refused."""
    cutting = Cutting(slot, at)
    with pytest.raises(SourceUnreachable, match="lost the connection"):
        if at == b"IDENTIFY_SYSTEM":
            ask_server(cutting.dsn, Origin(), 0)
        else:
            Stream(cutting.dsn, SLOT, SLOT)
    cutting.listening.close()


def test_a_server_that_lets_go_of_us_is_told(database: str) -> None:
    """As one that shuts down does: it is no other server for that."""
    conn = open_replication(database)
    with connect(database) as c:
        c.execute("SELECT pg_terminate_backend(%s)", (conn.backend_pid,))
        time.sleep(0.5)
    with pytest.raises(SourceUnreachable, match="lost the connection"):
        identify(conn, 5)


def test_a_server_that_does_not_answer_stops_no_thread(slot: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes connections, and says nothing
        dsn = conninfo.make_conninfo(slot, host="127.0.0.1", port=deaf.getsockname()[1], connect_timeout=2)
        turns, stop = [0], threading.Event()

        def turn() -> None:
            while not stop.wait(0.01):
                turns[0] += 1

        other = threading.Thread(target=turn)
        other.start()
        with pytest.raises(SourceUnreachable, match="cannot stream"):
            Stream(dsn, SLOT, SLOT)
        stop.set()
        other.join()
        assert turns[0] > 20
