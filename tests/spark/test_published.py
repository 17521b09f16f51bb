"""What frontier.json says, who reads by it, and what is told when it cannot be read. No Spark is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from connectors.engine import FrontierMoved
from connectors.failpoints import FailpointReached
from connectors.spark import upkeep
from connectors.spark.dropped import MARK, Dropped
from connectors.spark.engine import SparkEngine
from connectors.spark.pending import Manifest, Pending
from connectors.spark.pins import Leases, Pin
from connectors.spark.published import Published, commit, latest
from connectors.spark.store import Store
from dialects.spark.printer import SparkPrinter


def table(root: Path, name: str, version: int) -> None:
    """A Delta table's log, as far as it is looked at."""
    commit(root / name, 0).parent.mkdir(parents=True, exist_ok=True)
    for v in range(version + 1):
        (root / name / f"part {v}.parquet").write_text("x")
        commit(root / name, v).write_text(json.dumps({"add": {"path": f"part%20{v}.parquet"}}) + "\n{}\n")


def engine(root: Path, read_only: bool = False) -> SparkEngine:
    return SparkEngine(Store(root, SparkPrinter(root), read_only=read_only))


def test_the_last_version_is_found_without_spark(tmp_path: Path) -> None:
    assert latest(tmp_path / "none") is None
    table(tmp_path, "state/a", 3)
    log = tmp_path / "state" / "a" / "_delta_log"
    (log / "00000000000000000009.crc").touch()
    (log / ".00000000000000000008.json.crc").touch()
    assert latest(tmp_path / "state" / "a") == 3
    (log / "00000000000000000010.checkpoint.parquet").touch()
    assert latest(tmp_path / "state" / "a") == 10


def test_only_what_a_batch_changed_is_seen_anew(tmp_path: Path) -> None:
    p = Published(tmp_path)
    for name in ("state/a", "state/b"):
        table(tmp_path, name, 1)
    p.publish(["state/a", "state/b"], 10)
    table(tmp_path, "state/a", 2)
    table(tmp_path, "state/b", 2)
    p.publish(["state/a"], 20)
    assert (p.pin().lsn, p.pin().versions) == (20, {"state/a": 2, "state/b": 1})
    p.withdraw(["state/a"])
    assert not p.pin().holds("state/a") and p.pin().kind("state") == {"b": 1}
    assert [f.name for f in tmp_path.glob(".*")] == []


def test_a_file_of_an_older_program_has_its_tables_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "frontier.json").write_text('{"lsn": 7, "moved": 1.5}')
    (tmp_path / "states.json").write_text('["a"]')
    for name in ("state/a", "mirror/t"):
        table(tmp_path, name, 4)
    p = Published(tmp_path)
    assert p.pin() == Pin(7, 1.5, None) and p.pin().holds("state/a") and p.pin().kind("state") is None
    p.withdraw(["state/b"])
    assert p.pin().versions is None
    p.publish((), 8)
    assert p.pin().versions == {"state/a": 4, "mirror/t": 4}


def test_a_mirror_that_a_crash_left_rewritten_is_published_by_the_next_who_opens(tmp_path: Path) -> None:
    table(tmp_path, "mirror/t", 3)
    table(tmp_path, "state/a", 3)
    Published(tmp_path).publish(["mirror/t", "state/a"], 5)
    table(tmp_path, "mirror/t", 4)
    assert engine(tmp_path, read_only=True).frontier() == 5
    assert Published(tmp_path).pin().versions == {"mirror/t": 3, "state/a": 3}
    assert engine(tmp_path).frontier() == 5
    assert Published(tmp_path).pin().versions == {"mirror/t": 4, "state/a": 3}


@pytest.mark.parametrize("text", ["", '{"lsn": 1', "[]", '{"lsn": "x"}', '{"lsn": 1, "versions": {"state/a": null}}'])
@pytest.mark.parametrize("name", ["frontier.json", "states.json", "pending/9/manifest.json"])
def test_half_a_file_is_told_of(tmp_path: Path, name: str, text: str) -> None:
    if (name, text) == ("states.json", "[]"):
        return
    e = engine(tmp_path)
    e.store.pending.begin(9).joinpath("DONE").touch()
    (tmp_path / "pending" / "9" / "manifest.json").write_text('{"lsn": 9}')
    (tmp_path / name).write_text(text)
    with pytest.raises(TidemarkError) as raised:
        e.states()
        e.frontier()
    assert raised.value.code == "damaged_warehouse"
    assert Path(name).name in raised.value.message and str(tmp_path) in raised.value.detail
    assert "teardown" in raised.value.hint


def test_states_without_a_frontier_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "states.json").write_text('["a"]')
    with pytest.raises(TidemarkError, match="frontier.json cannot be read"):
        engine(tmp_path).frontier()


def test_a_batch_begins_where_the_engine_stands(tmp_path: Path) -> None:
    e = engine(tmp_path)
    e.set_frontier(10)
    with pytest.raises(FrontierMoved) as raised:
        e.apply([], 30, None, start=20)  # type: ignore[arg-type]
    assert "0/14" in raised.value.detail and "0/A" in raised.value.detail and e.frontier() == 10
    assert e.apply([], 30, None, start=10) == 0 and e.frontier() == 30  # type: ignore[arg-type]
    assert e.apply([], 30, None) == 0 and e.frontier() == 30  # type: ignore[arg-type]
    e.store.pending.decide(e.store.pending.begin(50), Manifest(50, 40))
    with pytest.raises(FrontierMoved):
        e.frontier()


def test_what_was_decided_is_finished_in_order_and_the_rest_goes(tmp_path: Path) -> None:
    e = engine(tmp_path)
    e.set_frontier(10)
    pending = Pending(tmp_path / "pending")
    pending.decide(pending.begin(5), Manifest(5, 1))
    (pending.begin(30) / "batch").mkdir()
    pending.decide(pending.begin(20), Manifest(20, 10))
    (tmp_path / "pending" / "5" / "manifest.json").unlink()  # half removed, and of no use any more
    assert [f.name for f, _ in pending.decided(10)] == ["20"]
    assert e.store.pending.manifest(tmp_path / "pending" / "20") == Manifest(20, 10)
    assert [f.name for f in (tmp_path / "pending").iterdir()] == ["20"]


def test_a_failpoint_is_no_failure_of_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    e = engine(tmp_path)

    def stop() -> None:
        raise FailpointReached("spark.commit")

    monkeypatch.setattr(e.store.driver, "beside", stop)
    with pytest.raises(FailpointReached):
        e.store.healing.run("a batch", lambda: e.batches._tagged("", "state/a", 1))


def test_a_pin_is_held_while_it_is_read_and_goes_with_its_process(tmp_path: Path) -> None:
    leases, pin = Leases(tmp_path / "readers"), Pin(5, 0.0, {"state/a": 1})
    with leases.take(lambda: pin) as at:
        assert at == pin and leases.held() == [pin]
        with leases.take(lambda: Pin(6)):
            assert len(leases.held()) == 2
    assert leases.held() == [] and not any((tmp_path / "readers").iterdir())

    def load() -> Pin:
        assert [p.holds("state/b") for p in leases.held()] == [True], "while it is being taken it holds everything"
        return pin

    with leases.take(load):
        assert [p.holds("state/b") for p in leases.held()] == [False]
    code = (
        "import os, sys; from pathlib import Path; from connectors.spark.pins import *\n"
        "with Leases(Path(sys.argv[1])).take(lambda: Pin(7)): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "readers")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None and other.stdout.readline()
    assert leases.held() == [Pin(7)]
    other.kill()
    other.communicate()
    assert leases.held() == [] and not any((tmp_path / "readers").iterdir())


def test_a_state_that_is_read_is_removed_later(tmp_path: Path) -> None:
    leases = Leases(tmp_path / "readers")
    dropped, a = Dropped(tmp_path, leases), tmp_path / "state" / "a"
    table(tmp_path, "state/a", 1)
    with leases.take(lambda: Pin(5, 0.0, {"state/a": 1})):
        dropped.drop("a")
        assert (a / MARK).exists()
        assert not dropped.room("a") and not (a / MARK).exists()  # taken up again, by a later version
        dropped.drop("a")
    assert a.exists()
    dropped.sweep()
    assert not a.exists() and not (tmp_path / "dropped").exists()
    table(tmp_path, "state/a", 1)
    assert dropped.room("a") and not a.exists()


def test_files_of_a_version_that_is_read_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "OLD_FILES", 1)
    e, ran = engine(tmp_path), []
    monkeypatch.setattr(e.store, "sql", ran.append)
    table(tmp_path, "state/a", 1)
    e.store.published.publish(["state/a"], 5)
    with e.pinned():
        table(tmp_path, "state/a", 2)
        long_ago = time.time() - upkeep.KEPT
        os.utime(commit(tmp_path / "state" / "a", 2), (long_ago, long_ago))
        e.upkeep.vacuum("state/a")
        assert not ran
    e.upkeep.vacuum("state/a")
    assert len(ran) == 1 and "VACUUM" in ran[0]
