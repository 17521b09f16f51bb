"""Whole transactions out of a stream: sent before they commit, undone in parts, larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from connectors.postgres.connection import connect
from connectors.postgres.origin import Continuity, LastCommit
from connectors.postgres.pgoutput import Decoder
from connectors.postgres.spool import Spool
from connectors.postgres.stream import Stream
from connectors.postgres.transactions import Limits, Received, Transaction
from pipelines.applying.capture import current_lsn

SLOT = "transactions_test"
EARLY = " options='-c logical_decoding_work_mem=64kB'"  # so that transactions are sent before they commit


@pytest.fixture
def slot(database: str) -> Iterator[str]:
    with connect(database) as c:
        c.execute("CREATE TABLE t (id int PRIMARY KEY, x text)")
        c.execute("CREATE PUBLICATION transactions_test FOR TABLE t")
        c.execute("SELECT pg_create_logical_replication_slot('transactions_test', 'pgoutput')")
    yield database


def received(dsn: str, folder: Path, memory: int = 1 << 30) -> list[Transaction]:
    target = current_lsn(dsn)
    s = Stream(dsn + EARLY, SLOT, SLOT, folder=folder, memory=memory)
    out: list[Transaction] = []
    take = s.assembly.take

    def noted(data: bytes) -> Transaction | None:
        t = take(data)
        out.extend([t] if t is not None else [])
        return t

    s.assembly.take = noted  # type: ignore[method-assign]
    while s.server_end < target:
        s.receive(Limits(), 1.0, target)
    s.close()
    return [t for t in out if t.large is not None or len(t.frames) > 2]


def ids(t: Transaction, rows: int = 1000) -> list[int]:
    """The ids that it inserts, decoded in pieces of so many frames."""
    decoder, out = Decoder(), list[int]()
    pieces = t.large.pieces(rows, 1 << 30) if t.large is not None else iter([t.frames])
    for frames in pieces:
        for changes in decoder.decode(frames, t.lsn).changes.values():
            for c in changes:
                assert set(c.lsn.tolist()) == {t.lsn}
                assert c.new is not None
                out += [int(v) for v in c.new.columns[0].to_pylist()]
    return out


def write(c: psycopg.Connection, first: int, n: int) -> None:
    c.execute("INSERT INTO t SELECT i, repeat('x', 50) FROM generate_series(%s::int, %s) i", (first, first + n - 1))


@pytest.mark.parametrize("memory", [1 << 30, 100_000])
def test_what_is_undone_never_comes(slot: str, tmp_path: Path, memory: int) -> None:
    a, b = psycopg.connect(slot), psycopg.connect(slot)
    write(a, 0, 5000)
    write(b, 100_000, 5000)
    a.execute("SAVEPOINT one")
    write(a, 10_000, 5000)
    a.execute("ROLLBACK TO one")
    b.rollback()
    a.execute("ALTER TABLE t ADD COLUMN y int")
    a.execute("SAVEPOINT two")
    write(a, 20_000, 5000)
    a.execute("SAVEPOINT three")
    write(a, 30_000, 3000)
    a.execute("RELEASE three")
    a.execute("ROLLBACK TO two")
    write(a, 40_000, 10)
    a.commit()
    with connect(slot) as c:
        write(c, 200_000, 3)
    a.close()
    b.close()
    big, small = received(slot, tmp_path, memory)
    assert (big.large is not None) == (memory < 1 << 30)
    assert ids(big) == [*range(5000), *range(40_000, 40_010)]
    assert ids(small) == [200_000, 200_001, 200_002]
    big.close()
    assert list(tmp_path.iterdir()) == []


def test_transactions_side_by_side_come_in_the_order_of_their_commits(slot: str, tmp_path: Path) -> None:
    a, b = psycopg.connect(slot), psycopg.connect(slot)
    for i in range(3):
        write(a, i * 3000, 3000)
        write(b, 100_000 + i * 3000, 3000)
    with connect(slot) as c:
        write(c, 50_000, 1)
    b.commit()
    a.commit()
    a.close()
    b.close()
    got = received(slot, tmp_path, 200_000)
    assert [t.large is not None for t in got] == [False, True, True]
    assert [ids(t) for t in got] == [[50_000], [*range(100_000, 109_000)], [*range(9000)]]
    assert [t.lsn for t in got] == sorted(t.lsn for t in got)
    for t in got:
        t.close()


def test_a_spool_gives_what_it_was_given(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    frames = [b"w" + bytes(24) + b"I" + bytes([i]) * i for i in range(100)]
    for i, f in enumerate(frames):
        spool.add(f, i % 3 + 1)
        if i == 50:
            assert spool.spill() == sum(map(len, frames[:51]))
    assert list(spool) == frames == list(spool)  # as often as it is asked
    spool.drop(2)
    kept = [f for i, f in enumerate(frames) if i % 3 != 1]
    assert [f for piece in spool.pieces(7, 1 << 20) for f in piece] == kept
    assert all(len(p) <= 7 for p in spool.pieces(7, 1 << 20))
    assert max(sum(map(len, p)) for p in spool.pieces(1000, 300)) < 300 + len(frames[-1])
    spool.close()


@pytest.mark.parametrize("memory", [1 << 30, 10_000])
def test_one_that_another_server_sent_on(slot: str, tmp_path: Path, memory: int) -> None:
    with psycopg.connect(slot) as c:
        name = f"elsewhere_{os.getpid()}_{memory}"  # of the whole server
        c.execute("SELECT pg_replication_origin_create(%s)", (name,))
        c.execute("SELECT pg_replication_origin_session_setup(%s)", (name,))
        c.commit()
        with c.transaction():
            with suppress(psycopg.errors.UniqueViolation), c.transaction():
                c.execute("INSERT INTO t SELECT i, repeat('x', 99) FROM generate_series(1, 3000) i")
                c.execute("INSERT INTO t VALUES (1, 'twice')")
            c.execute("INSERT INTO t SELECT i, repeat('y', 99) FROM generate_series(5001, 9000) i")
        c.execute("SELECT pg_replication_origin_session_reset()")
        c.execute("SELECT pg_replication_origin_drop(%s)", (name,))
    (t,) = received(slot, tmp_path, memory)
    assert ids(t) == list(range(5001, 9001))
    t.close()


def test_one_that_changes_nothing_counts_only_where_it_is_looked_for() -> None:
    frame = bytes(25)
    nothing = Transaction([frame + b"B", frame + b"C"], 10, 11, 7, 0)
    assert nothing.idle and not Transaction([frame + b"B", frame + b"I", frame + b"C"], 10, 11, 7, 0).idle
    got = Received()
    got.take(nothing)
    assert got.last is None and got.end == 11 and got.xids == [7]
    before, last = LastCommit(8, 6, 0), nothing.commit
    for applied, seen in ((before, [(8, 6, False), (10, 7, True)]), (last, [(8, 6, False), (10, 7, True)])):
        c = Continuity(20, 20, 5, applied)
        for lsn, xid, idle in seen:
            c.saw(lsn, xid, 0, idle)
        c.reached(20)
        assert c.proven
