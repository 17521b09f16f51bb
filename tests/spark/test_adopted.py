"""Tables that were copied into a file of DuckDB and are taken over: by executors, and by mirrors that are Dist."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.catalog import Table
from pipelines.deploying import arriving
from pipelines.deploying.arrived import Arrived
from pipelines.deploying.deploy import deploy
from pipelines.deploying.initial_copy import Refusals
from pipelines.warehouse import Warehouse
from tests.connectors.test_capture_types import ALL
from tests.project import Project

pytestmark = pytest.mark.spark
MOOD = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s, \"fine\"')"
COLUMNS = {f"c{i}": t for i, t in enumerate(ALL)}
ROWS = max(map(len, ALL.values()))
BODY = ", ".join(f"{c} {t}" for c, t in COLUMNS.items())
VIEWS = {
    "every_one": f"SELECT id, {', '.join(COLUMNS)} FROM every",
    "bags": f"SELECT {', '.join(COLUMNS)} FROM bag",
}


def rows(table: str, first: str) -> list[str]:
    values = [", ".join(vs[i % len(vs)] for vs in ALL.values()) for i in range(ROWS)]
    return [f"INSERT INTO {table} VALUES ({first.format(i)}{v})" for i, v in enumerate(values)]


@pytest.mark.parametrize("memory, taken", [("none", VIEWS), ("1KB", {"every_one": VIEWS["every_one"]})])
def test_every_type(
    memory: str, taken: dict[str, str], database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {"few": "SELECT id FROM few"}, engine="spark", local_memory=memory)
    p.source(
        MOOD,
        "CREATE TABLE few (id int PRIMARY KEY)",
        "INSERT INTO few VALUES (1)",
        f"CREATE TABLE every (id int PRIMARY KEY, {BODY})",
        f"CREATE TABLE bag ({BODY})",
        "ALTER TABLE bag REPLICA IDENTITY FULL",
        *rows("every", "{0}, "),
        *2 * rows("bag", ""),
    )
    p.deploy()
    p.write(taken)
    adopted = []
    fill = Arrived.fill

    def filled(self: Arrived, warehouse: Warehouse, engine: str, tables: list[Table]) -> Refusals:
        adopted.append([t.name for t in tables])
        return fill(self, warehouse, engine, tables)

    with monkeypatch.context() as m:
        m.setattr(arriving, "LARGE", 1)  # so that they are copied into a file first
        m.setattr(Arrived, "fill", filled)
        deploy(p.config)
    assert sorted(adopted[0]) == (["bag", "every"] if "bags" in taken else ["every"])
    p.assert_equal()
    p.source("UPDATE every SET id = id + 1000 WHERE id % 2 = 0", "DELETE FROM every WHERE id = 3")
    p.source(*rows("bag", "")[:2], "DELETE FROM bag WHERE ctid = (SELECT min(ctid) FROM bag)")
    p.assert_equal()
