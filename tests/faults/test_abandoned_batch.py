"""A second signal in a batch on Spark: the pipeline ends at once, and the next command undoes or finishes the batch."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from connectors.failpoints import VARIABLE
from tests.pipelines.running import running, until
from tests.project import Project

TOTALS = "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("engines", [("spark",), ("duckdb", "spark")])
def test_a_second_signal_abandons_the_batch_on_spark(
    database: str, tmp_path: Path, engines: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {})
    for e in engines:
        (tmp_path / "views" / f"on_{e}.sql").write_text(
            f"CREATE MATERIALIZED VIEW on_{e} WITH (engine = '{e}') AS {TOTALS}"
        )
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int)",
        "INSERT INTO t SELECT g, g % 3, g FROM generate_series(1, 30) g",
    )
    p.deploy()
    assert sorted(v.engine for v in p.deployed.views) == sorted(engines)
    pending = p.config.warehouse_path / "delta" / "pending"

    def stands() -> int:
        return int(json.loads((p.config.warehouse_path / "delta" / "frontier.json").read_text())["lsn"])

    before = stands()
    monkeypatch.setenv(VARIABLE, "spark.landed=wait")
    with running(p, 60) as process:
        p.source("UPDATE t SET b = b + 1")
        until(lambda: pending.is_dir() and any(pending.iterdir()), "a batch is at hand", 60)
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err and "rror:" not in err, err
    monkeypatch.delenv(VARIABLE)
    assert stands() == before, "the batch was not abandoned"
    assert time.monotonic() - asked < 50, "it was waited for"
    p.assert_equal()
