"""Events in files that grow, are renamed and begun anew: each transaction once, whoever reads on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.debezium import log
from connectors.debezium.assembling import Assembler
from connectors.debezium.files import Files
from connectors.debezium.places import Places
from connectors.postgres.transactions import Transaction
from tests.connectors.test_debezium_assembling import PREFIX, change, end
from tests.pipelines.running import until


def lines(*numbers: int) -> str:
    """Transactions of one change; number n ends at LSN 100 n."""
    found = []
    for n in numbers:
        found += [change(n, 1, 100 * n - 50, 100 * (n - 1)), end(n, 100 * n, 1)]
    return "".join(json.dumps(e) + "\n" for e in found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "events"
    made.mkdir()
    return made


class Reader:
    """What has been given of a folder; `kept` is where the next one reads on."""

    def __init__(self, folder: Path, kept: Path, frontier: int) -> None:
        self.got: list[Transaction] = []
        places = Places(kept, PREFIX)
        places.load(frontier)
        self.files = Files(folder, Assembler(PREFIX, frontier), places, self.got.append)

    def gives(self, *numbers: int) -> None:
        until(lambda: [t.end // 100 for t in self.got] == [*numbers], f"{numbers}, not {self.got}")
        assert not self.files.stopped.is_set(), self.files.refused

    def close(self, durable: int) -> None:
        self.files.acknowledged = durable
        self.files.close()


def test_files_are_read_as_they_grow_and_are_begun_anew(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path
    events = folder / "events.json"
    events.write_text(lines(1) + lines(2)[:30])
    reader = Reader(folder, kept, 0)
    reader.gives(1)
    with events.open("a") as f:
        f.write(lines(2)[30:])
    reader.gives(1, 2)
    events.rename(folder / "events.json.1")
    events.write_text(lines(3))
    reader.gives(1, 2, 3)
    reader.close(200)  # what was not durable is given again
    events.rename(folder / "events.json.2")
    events.write_text(lines(4, 5, 6))
    reader = Reader(folder, kept, 200)
    reader.gives(3, 4, 5, 6)
    reader.close(600)
    for old in folder.glob("events.json.*"):
        old.unlink()
    events.write_text(lines(7))  # the same file, cut and begun anew
    reader = Reader(folder, kept, 600)
    reader.gives(7)
    reader.close(700)


def test_where_reading_begins_is_of_no_consequence(folder: Path, tmp_path: Path) -> None:
    (folder / "events.json").write_text(lines(1, 2, 3))
    first = Reader(folder, tmp_path, 0)
    first.gives(1, 2, 3)
    first.close(300)
    restored = Reader(folder, tmp_path, 100)  # a warehouse from before: what is kept is ahead of it
    restored.gives(2, 3)
    restored.close(300)
    (tmp_path / "events.json").unlink()
    with (folder / "events.json").open("a") as f:
        f.write(lines(4))
    last = Reader(folder, tmp_path, 300)
    last.gives(4)
    last.close(400)


def test_what_is_no_event_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "events.json").write_text(lines(1) + '{"half": ' + lines(2))
    reader = Reader(folder, tmp_path, 0)
    until(reader.files.stopped.is_set, "it stops")
    assert reader.files.refused is not None and "cannot be read" in str(reader.files.refused)
    reader.close(100)


@pytest.mark.parametrize("gone", [2, 1])
def test_what_is_missing_is_told_though_more_comes(
    gone: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole transaction, or its one change."""
    monkeypatch.setattr(log, "PATIENCE", 0.5)
    events = folder / "events.json"
    events.write_text(lines(1) + (lines(3) if gone == 2 else lines(2).split("\n")[1] + "\n" + lines(3)))
    reader = Reader(folder, tmp_path, 0)
    n = 4
    while not reader.files.stopped.wait(0.1):
        with events.open("a") as f:
            f.write(lines(n))
        n += 1
        assert n < 200, reader.got
    assert [t.end for t in reader.got] == [100]
    told = "before transaction 3" if gone == 2 else "1 of 1 events of transaction 2"
    assert told in str(reader.files.error)
    reader.close(100)
