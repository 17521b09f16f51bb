"""By `split`, states of every kind of view lag that can: readers see what waits, and folds change no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.maintain.kept import lagging
from connectors.duckdb import unchanged
from pipelines import folding
from pipelines.warehouse import Warehouse
from tests.connectors.test_unchanged import UPDATES
from tests.project import Project
from tests.rules.test_rules import COMMITS, LOAD, PAGES, SCHEMA, statement


@pytest.mark.parametrize("folded", ["in batches", "between them"])
def test_every_operator(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folded: str) -> None:
    monkeypatch.setattr(unchanged, "OFTEN", 1)
    if folded == "in batches":
        monkeypatch.setattr(folding, "LEAST", 0)
        monkeypatch.setattr(folding, "SHARE", 0.0)
        monkeypatch.setattr(folding, "LOOK", 2)
    p = Project.create(tmp_path, database, {})
    for page in PAGES:
        text = statement(page).replace("strategy = 'first_order'", "strategy = 'split'")
        (p.home / "views" / f"{page.stem}.sql").write_text(text)
    p.source(SCHEMA, LOAD)
    p.deploy()
    w = Warehouse(p.config, p.deployed, read_only=True)
    late = [plan for plan in w.plans("duckdb") if lagging(plan.states)]
    w.close()
    assert len(late) > len(PAGES) / 2
    for commit in (*UPDATES, *COMMITS):
        p.source(commit)
        p.assert_equal()
        if folded == "between them":
            w = Warehouse(p.config, p.deployed)
            w.fold("duckdb")
            w.close()
    p.assert_equal()
