"""A batch runs no statement that has nothing to do, and what is left out changes no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.maintain.program import Does, Statement
from connectors.duckdb.needed import Needed
from connectors.duckdb.statements import Statements
from tests.project import Project


def statement(target: str, *reads: str, does: Does = Does.STEP, void: tuple[set[str], ...] = ()) -> Statement:
    return Statement(does, target, "", reads, target, "", void=frozenset(map(frozenset, void)))


def test_what_was_put_off_is_made_for_who_reads_it() -> None:
    ran: list[str] = []

    def run(s: Statement) -> int:
        ran.append(s.target)
        return 0 if s.target == "a" else 1

    needed = Needed(run)
    for s in (
        statement("a"),
        statement("b", "a", void=({"a"},)),
        statement("c", "b", void=({"b"}, {"x"})),
        statement("d", "c", void=({"c", "x"},)),  # x is not empty: it runs, and what it reads before it
        statement("s", "b", does=Does.MERGE, void=({"b"},)),
        statement("t", "d", does=Does.MERGE, void=({"d"},)),
    ):
        needed.run(s)
    assert ran == ["a", "b", "c", "d", "t"]


def test_inserted_parents_meet_no_old_children(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: set[str] = set()
    one = Statements.run

    def noted(self: Statements, s: Statement) -> int:
        ran.add(f"{s.does} {s.state}")
        return one(self, s)

    monkeypatch.setattr(Statements, "run", noted)
    views = {
        "by_name": "SELECT p.name, count(*) AS n FROM p JOIN c ON c.p = p.id GROUP BY p.name",
        "least": "SELECT p, min(x) AS x, max(x) AS y FROM c GROUP BY p",
    }
    p = Project.create(tmp_path, database, views)
    (p.home / "tidemark.toml").write_text((p.home / "tidemark.toml").read_text() + "\n[duckdb]\nindex_rows = 0\n")
    p.source(
        "CREATE TABLE p (id int PRIMARY KEY, name text)",
        "CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p, x int)",
        "INSERT INTO p SELECT i, 'n' || i FROM generate_series(1, 9) i",
        "INSERT INTO c SELECT i, 1 + i % 9, i FROM generate_series(1, 99) i",
    )
    p.deploy()
    for change, touches in (
        ("INSERT INTO p VALUES (10, 'ten')", False),
        ("INSERT INTO c VALUES (100, 3, 7)", True),
        ("ALTER TABLE c DROP CONSTRAINT c_p_fkey", False),
        ("INSERT INTO c VALUES (101, 77, 7)", True),
        ("INSERT INTO p VALUES (77, 'late')", True),  # a child was there before it: no foreign key is relied on
    ):
        ran.clear()
        p.source(change)
        p.assert_equal()
        assert any(r.startswith("merge") for r in ran) == touches, change
