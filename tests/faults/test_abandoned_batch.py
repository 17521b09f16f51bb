"""A second signal in a batch on Spark: the pipeline ends at once, and the next command undoes or finishes the batch."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.pipelines.running import running, until
from tests.project import Project

TOTALS = "SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("engines", [("spark",), ("duckdb", "spark")])
def test_a_second_signal_abandons_the_batch_on_spark(database: str, tmp_path: Path, engines: tuple[str, ...]) -> None:
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
    with running(p, 60) as process:
        p.source("UPDATE t SET b = b + 1")
        until(lambda: pending.is_dir() and any(pending.iterdir()), "a batch is at hand", 60)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err and "rror:" not in err, err
    assert any(pending.iterdir()), "the batch was not abandoned"
    p.assert_equal()
