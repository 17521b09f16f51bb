"""A batch that changes most rows fills what it touches anew, in the same transaction: no view is another for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from connectors.duckdb import ways as bounds
from connectors.duckdb.batches import Batches
from connectors.duckdb.ways import Way, Ways
from tests.project import Project
from tests.rules.test_rules import COMMITS, LOAD, PAGES, SCHEMA, statement


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Way]:
    """The ways that batches go from now on."""
    out: list[Way] = []
    choose = Ways.choose

    def noted(self: Ways, kind: Any, ways: Sequence[Way]) -> Way:
        out.append(choose(self, kind, ways))
        return out[-1]

    monkeypatch.setattr(Ways, "choose", noted)
    return out


def test_every_operator(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: list[Way]) -> None:
    for bound in ("ANEW_ROWS", "ANEW_SHARE", "MOST_SHARE"):
        monkeypatch.setattr(bounds, bound, 0)
    p = Project.create(tmp_path, database, {})
    for page in PAGES:
        (p.home / "views" / f"{page.stem}.sql").write_text(statement(page))
        late = statement(page).replace("strategy = 'first_order'", "target_lag = '1 h'")
        late = re.sub(r'VIEW "?(\w+)"?', r"VIEW \1_late", late)
        (p.home / "views" / f"{page.stem}_late.sql").write_text(late)
    p.source(SCHEMA, LOAD)
    p.deploy()
    for commit in COMMITS:
        p.source(commit)
        p.assert_equal()
    assert set(taken) == {Way.ANEW}


def test_it_is_for_batches_that_change_most_rows(database: str, tmp_path: Path, taken: list[Way]) -> None:
    p = Project.create(tmp_path, database, {"sums": "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 10000) i",
    )
    p.deploy()
    for change, way in (
        ("UPDATE t SET x = x + 1 WHERE id < 100", Way.READ),
        ("UPDATE t SET g = g + 1", Way.ANEW),
        ("DELETE FROM t WHERE id > 9990", Way.READ),
        ("TRUNCATE t", Way.READ),
        ("INSERT INTO t SELECT i, i % 3, i FROM generate_series(1, 5000) i", Way.ANEW),
    ):
        taken.clear()
        p.source(change)
        p.assert_equal()
        assert taken == [way], change


def test_parts_of_a_large_transaction_that_only_views_that_lag_read_wait_for_them(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[Way] = []
    of_parts = Batches._way_of_parts

    def noted(self: Batches, *args: Any) -> Any:
        found = of_parts(self, *args)
        ways.append(found[1])
        return found

    monkeypatch.setattr(Batches, "_way_of_parts", noted)
    p = Project.create(tmp_path, f"{database} options='-c logical_decoding_work_mem=64kB'", {})
    with (p.home / "tidemark.toml").open("a") as f:
        f.write('\n[batch]\nrows = 300\nmemory = "64KB"\n')
    p.write({"eager": "SELECT x, count(*) AS n FROM a GROUP BY x"})
    p.write({"lagging": "SELECT x, count(*) AS n FROM b GROUP BY x"}, "target_lag = '1 h'")
    p.source(
        "CREATE TABLE a (id int PRIMARY KEY, x int)",
        "CREATE TABLE b (id int PRIMARY KEY, x int)",
        "INSERT INTO a SELECT i, 1 FROM generate_series(1, 100) i",
        "INSERT INTO b SELECT i, 1 FROM generate_series(1, 100) i",
    )
    p.deploy()
    both = "INSERT INTO {0} SELECT i, 2 FROM generate_series(1000, 3000) i"
    p.source(f"BEGIN; {both.format('a')}; {both.format('b')}; COMMIT")
    p.assert_equal()
    assert ways == [Way.ANEW]
