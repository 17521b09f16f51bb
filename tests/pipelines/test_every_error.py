"""One run tells what is wrong with every view, on stderr: place, message, detail and hint. It changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipelines.test_bad_input import untouched
from tests.project import Project

SCHEMA = """CREATE TYPE order_status AS ENUM ('new', 'shipped');
CREATE TABLE orders (id uuid PRIMARY KEY, status order_status, placed date);"""
VIEWS = {
    "good": "CREATE MATERIALIZED VIEW good AS SELECT status, count(*) AS n FROM orders GROUP BY status;",
    "late": """-- what is late: 'shiped'
CREATE MATERIALIZED VIEW late AS
SELECT id /* all */ FROM orders WHERE status = 'shiped'
  AND placed < '2025-13-45';""",
    "nope": "CREATE MATERIALIZED VIEW nope AS\n\nSELECT id, nope FROM orders;",
    "of_late": "CREATE MATERIALIZED VIEW of_late AS SELECT count(*) AS n FROM late;",
    "select": "CREATE MATERIALIZED VIEW select WITH (engine = 'duckdb') AS\nSELECT id FROM orders WHERE;",
}
TOLD = [
    """error: view "late": views/late.sql:3:48: invalid input value for enum order_status: "shiped"
LINE 3: SELECT id /* all */ FROM orders WHERE status = 'shiped'
                                                       ^
detail: Its labels are: new, shipped.
hint: Perhaps you meant "shipped".
""",
    """error: view "late": views/late.sql:4:16: date/time field value out of range: "2025-13-45"
LINE 4:   AND placed < '2025-13-45';
                       ^
hint: """,
    """error: view "nope": views/nope.sql:3:12: column "nope" does not exist
LINE 3: SELECT id, nope FROM orders;
                   ^
""",
    """error: view "of_late": views/of_late.sql: view "late", which it reads, is refused
detail: invalid input value for enum order_status: "shiped"
""",
    """error: view "select": views/select.sql:2:28: syntax error at or near ";"
LINE 2: SELECT id FROM orders WHERE;
                                   ^
""",
]


@pytest.fixture
def shop(database: str, tmp_path: Path) -> Project:
    p = Project.create(tmp_path, database, {})
    for name, text in VIEWS.items():
        (tmp_path / "views" / f"{name}.sql").write_text(text)
    (tmp_path / "schema.sql").write_text(SCHEMA)
    p.source(SCHEMA)
    return p


@pytest.mark.parametrize("args", [("deploy",), ("check",), ("compile",), ("compile", "--schema", "schema.sql")])
def test_one_run_tells_what_is_wrong_with_every_view(shop: Project, args: tuple[str, ...]) -> None:
    done = shop.command(*args)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    for text in TOLD:
        assert text in done.stderr
    assert "good" not in done.stderr and done.stderr.count("error: ") == len(TOLD)
    untouched(shop)


def test_explain_tells_what_is_wrong_with_its_view(shop: Project) -> None:
    done = shop.command("explain", "late")
    assert done.returncode == 1 and TOLD[0] in done.stderr and TOLD[1] in done.stderr
    assert done.stderr.count("error: ") == 2
    assert shop.command("explain", "good").returncode == 0


def test_the_good_views_are_deployed_when_told_to_keep_going(shop: Project) -> None:
    done = shop.command("deploy", "--keep-going")
    assert done.returncode == 1 and "good: incremental on duckdb" in done.stdout
    assert all(text in done.stderr for text in TOLD)
    assert [v.name for v in shop.deployed.views] == ["good"]
    told = {v["view"]: v for v in json.loads(shop.command("deploy", "--keep-going", "--json").stdout)["views"]}
    assert {n: v["accepted"] for n, v in told.items()} == {n: n == "good" for n in VIEWS}
    assert told["late"]["reason"]["message"].startswith('invalid input value for enum order_status: "shiped"')
    assert told["late"]["reason"]["where"] == "views/late.sql:3:48"
    assert set(told["late"]) == {"view", "accepted", "engine", "maintenance", "strategy", "reason"}
    shop.assert_equal()
