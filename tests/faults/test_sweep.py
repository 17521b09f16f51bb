"""A small part of the sweep of scripts/faults, and whether what it compares with notices a difference."""

from __future__ import annotations

import glob
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
own_server = pytest.mark.skipif(
    not glob.glob("/usr/lib/postgresql/*/bin/postgres"), reason="needs server binaries, to restart them"
)


def sweep(*args: str) -> dict[str, list[int]]:
    """What scripts/faults counted, by its first column; fails with all that it printed unless it found nothing."""
    seed = random.SystemRandom().randrange(1 << 32)
    path = os.pathsep.join([str(SCRIPTS), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "faulting", "--seed", str(seed), *args],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}\n{done.stderr}"
    rows = re.findall(r"^\| \**(.+?)\** \| (.*\d.*) \|$", done.stdout, re.M)
    return {kind: [int(re.sub(r"\D", "", x)) for x in numbers.split("|")] for kind, numbers in rows}


@own_server
def test_nothing_is_lost_doubled_half_shown_or_called_fresh() -> None:
    rows = sweep("--quick", "--only", "kills,failpoints,cut", "--moments", "2", "--trials", "2")
    injected, committed, *wrong = rows["total"][:6]
    assert injected >= 3 and committed > 100
    assert wrong == [0, 0, 0, 0]


@own_server
@pytest.mark.slow
def test_the_whole_sweep() -> None:
    assert sweep()["total"][2:6] == [0, 0, 0, 0]


@own_server
@pytest.mark.slow
@pytest.mark.spark
def test_the_whole_sweep_on_spark() -> None:
    assert sweep("--engine", "spark")["total"][2:6] == [0, 0, 0, 0]


def test_the_comparison_notices_what_is_lost_and_what_is_doubled(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from faulting.project import Project
    from faulting.schema import SCHEMA, VIEWS

    with psycopg.connect(database, autocommit=True) as c:
        for s in SCHEMA:
            c.execute(s.encode())
    p = Project(tmp_path / "project", database, VIEWS)
    assert p.do("deploy").code == 0
    assert not p.compare().where
    with duckdb.connect(str(p.warehouse / "tidemark.duckdb")) as con:
        con.execute("DELETE FROM base.item WHERE id = 5")
        con.execute("UPDATE base.tag SET _weight = _weight + 1 WHERE label = 't1' AND n = 1")
    found = p.compare()
    assert found.lost >= 1 and found.doubled >= 1
    assert any("mirror item: 1 missing, 0 extra" in w for w in found.where)
    assert any("mirror tag: 0 missing, 1 extra" in w for w in found.where)
