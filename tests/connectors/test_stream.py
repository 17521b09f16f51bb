"""Who may read a slot, and when."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from connectors.postgres import stream
from connectors.postgres.connection import connect
from connectors.postgres.stream import SlotUnavailable, Stream

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
