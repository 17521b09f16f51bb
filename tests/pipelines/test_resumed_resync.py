"""A resync that is killed goes on with what it had copied, and takes the old warehouse's place as of one LSN."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.postgres import ranges
from tests.pipelines.test_resumed_copy import CHANGES, copied, deployed, project, slots

DROP = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = current_database()"


def test_each_range_is_copied_once(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "PAGES", 4)
    p = project(tmp_path, database)
    p.deploy()
    p.source(DROP, *CHANGES[:2])
    seen: list[list[int]] = []
    for hit in (3, 4, 2):
        code, said = deployed(p, f"snapshot.range=kill:{hit}", "--resync")
        assert code == -9, said
        seen.append(copied(p, "resync"))
        p.source(*CHANGES)
    assert all(set(a) < set(b) for a, b in zip(seen, seen[1:], strict=False)), seen
    code, said = deployed(p, "", "--resync")
    assert code == 0, said
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1
    assert not (p.config.warehouse_path / "resync").exists()


@pytest.mark.parametrize("where", ["deploy.copied", "deploy.filled", "resync.filled"])
def test_it_goes_on_from_each_step(where: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "PAGES", 4)
    p = project(tmp_path, database)
    p.deploy()
    p.source(DROP)
    assert deployed(p, f"{where}=kill:1", "--resync")[0] == -9
    p.source(*CHANGES)
    code, said = deployed(p, "snapshot.range=kill:1", "--resync")  # nothing is read again
    assert code == 0, said
    p.source(*CHANGES[:1])
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1


@pytest.mark.parametrize("change", ["TRUNCATE big", DROP, "ALTER TABLE big ALTER v TYPE bigint"])
def test_it_begins_anew_where_what_is_there_is_of_no_use(
    change: str, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "PAGES", 4)
    p = project(tmp_path, database)
    p.deploy()
    p.source(DROP)
    assert deployed(p, "snapshot.range=kill:3", "--resync")[0] == -9
    p.source(change, *CHANGES)
    code, said = deployed(p, "", "--resync")
    assert code == 0, said
    p.catch_up()
    p.assert_equal()
    assert slots(p) == 1
