"""verify finds what is wrong in the warehouse, and --repair fills it again."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import duckdb
import pytest

from compiler.errors import TidemarkError
from connectors.postgres.connection import connect
from pipelines.deploying import first as deploying
from pipelines.verifying import verify as module
from pipelines.verifying.verify import verify
from tests.project import Project

DAMAGE = {
    "rows gone": "DELETE FROM state.{} WHERE rowid % 2 = 0",
    "rows doubled": "INSERT INTO state.{0} SELECT * FROM state.{0}",
    "weights changed": "UPDATE state.{} SET _weight = 2 WHERE rowid < 3",
    "state gone": "DROP TABLE state.{}",
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_state_is_found_and_repaired(database: str, tmp_path: Path, case: str) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, b FROM t WHERE b > 3", "w": "SELECT count(*) AS n FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, b int)", "INSERT INTO t SELECT g, g * 2 FROM generate_series(1, 9) g")
    p.deploy()
    with duckdb.connect(p.config.warehouse_path / "tidemark.duckdb") as c:
        row = c.execute("SELECT name FROM meta.states WHERE name LIKE 'v_rows%'").fetchone()
        assert row is not None
        c.execute(DAMAGE[case].format(row[0]))
    assert {r.view: r.equal for r in p.verify() if not r.mirror} == {"v": False, "w": True}
    assert {r.view: r.equal for r in verify(p.config, [], repair=True) if not r.mirror} == {"v": True, "w": True}
    p.source("UPDATE t SET b = b + 1 WHERE id < 5")
    p.assert_equal()


def test_a_table_truncated_while_it_is_compared_is_no_difference(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = Project.create(tmp_path, database, {"v": "SELECT id, b FROM t", "w": "SELECT count(*) AS n FROM u"})
    p.source(
        "CREATE TABLE t (id int PRIMARY KEY, b int)",
        "CREATE TABLE u (id int PRIMARY KEY)",
        "INSERT INTO t SELECT g, g FROM generate_series(1, 9) g",
    )
    p.deploy()
    real, times = (
        module._view,
        iter(("TRUNCATE t", "INSERT INTO t VALUES (1, 1)", "ALTER TABLE t ADD c float8 DEFAULT random()")),
    )

    def late(*args: object) -> module.Verified:
        if (change := next(times, None)) is not None:
            with connect(database) as c:
                c.execute(change)  # type: ignore[arg-type]
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_view", late)
    assert all(r.equal for r in verify(p.config, [], repair=True))
    assert next(times, None) is None


@pytest.mark.parametrize("times", [1, 3])
def test_a_table_rewritten_while_it_is_copied_is_copied_again(
    times: int, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times; then the deploy fails."""
    p = Project.create(tmp_path, database, {"v": "SELECT id, b FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, b int)", "INSERT INTO t VALUES (1, 1)")
    real, copied = deploying.copy_tables, []

    def late(*args: object, **more: object) -> object:
        copied.append(args)
        if len(copied) <= times:
            p.source(f"ALTER TABLE t ADD c{len(copied)} float8 DEFAULT random()")
        return real(*args, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as m:
        m.setattr(deploying, "copy_tables", late)
        with (
            pytest.raises(TidemarkError, match="was truncated or rewritten while it was copied")
            if times == 3
            else nullcontext()
        ):
            p.deploy()
    assert len(copied) == times + (times < 3)
    p.deploy()
    p.assert_equal()
