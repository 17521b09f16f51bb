"""`status --states`: how far each state is, also those that lag, beside a pipeline and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipelines.asking.client import connect_running
from tests.pipelines.running import running, until
from tests.project import Project

VIEWS = {
    "eager": "SELECT g, count(*) AS n FROM t GROUP BY g",
    "late": "SELECT g, sum(x) AS s FROM t GROUP BY g",
    "paced": "SELECT g, max(x) AS m FROM t GROUP BY g",
}
OPTIONS = {"eager": "", "late": " WITH (strategy = 'split')", "paced": " WITH (target_lag = '1 h')"}


def states(p: Project) -> dict[str, dict[str, Any]]:
    done = p.command("status", "--states", "--json")
    assert done.returncode == 0, done.stderr
    return {s["views"][0]: s for s in json.loads(done.stdout)["states"]}


def shot(p: Project) -> dict[str, Any]:
    """What the pipeline itself tells of the view that may lag, as its metrics do."""
    running = connect_running(p.config.warehouse_path)
    assert running is not None
    with running:
        return dict(running.state()["paced"].get("paced", {"waiting": None}))


def test_what_waits_is_told_of_the_state_that_it_waits_for(database: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, database, {})
    for name, query in VIEWS.items():
        (p.home / "views" / f"{name}.sql").write_text(f"CREATE MATERIALIZED VIEW {name}{OPTIONS[name]} AS {query}")
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, g int, x int)",
        "INSERT INTO t SELECT i, i % 3, i FROM generate_series(1, 30) i",
    )
    p.deploy()
    first = states(p)
    assert {v: (s["rows"], s["waiting"]) for v, s in first.items()} == {
        "eager": (3, 0),
        "late": (3, 0),
        "paced": (3, 0),
    }
    assert len({s["frontier"] for s in first.values()}) == 1
    p.source("INSERT INTO t VALUES (31, 1, 31)", "UPDATE t SET x = 33 WHERE id = 2")
    p.catch_up()
    then = states(p)
    assert then["eager"]["waiting"] == 0 and then["eager"]["frontier"] > first["eager"]["frontier"]
    assert then["late"]["waiting"] > 0 and then["late"]["frontier"] is None
    assert "read with its tail" in p.command("status", "--states").stdout
    assert then["paced"]["waiting"] == 0 and then["paced"]["frontier"] == then["eager"]["frontier"]  # it was finished
    with running(p):
        p.source("INSERT INTO t VALUES (32, 1, 31)", "UPDATE t SET x = 32 WHERE id = 2")
        assert p.command("query", "--wait", "SELECT * FROM eager").returncode == 0
        waits = states(p)
        assert waits["paced"]["waiting"] == 3 and waits["paced"]["frontier"] == then["paced"]["frontier"]
        shown = p.command("status", "--states").stdout
        assert f"state {waits['eager']['state']}: groups by" in shown and "for eager" in shown
        assert "3 rows of changes wait" in shown and "\nstate " not in p.command("status").stdout
        until(lambda: shot(p)["waiting"] == 3, "the pipeline has looked")
        assert p.command("query", "--wait", "SELECT * FROM paced").returncode == 0
        assert shot(p)["waiting"] == 0 and shot(p)["finished"] == 1
        done = states(p)["paced"]
        assert done["waiting"] == 0 and done["frontier"] >= waits["eager"]["frontier"]
