"""A case is played once for an engine and a strategy, by the first of its views' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import new_database
from tests.project import Project
from tests.scenarios.playing import Fill, Play, Played, play, views


def from_files(p: Project, case: Path) -> None:
    """Tables and first rows, as the case's folder has them."""
    p.play(case / "schema.sql")
    p.play(case / "load.sql")


@pytest.fixture(scope="module")
def fill() -> Fill:
    """What makes and fills the tables; a module whose rows are not in files has its own."""
    return from_files


@pytest.fixture(scope="module")
def played(server: str, tmp_path_factory: pytest.TempPathFactory, fill: Fill) -> Play:
    came: dict[tuple[Path, str, str], Played | Exception] = {}

    def once(case: Path, engine: str, strategy: str) -> Played:
        way = case, engine, strategy
        if way not in came:
            try:
                with new_database(server) as dsn:
                    home = tmp_path_factory.mktemp(case.name)
                    p = Project.create(home, dsn, views(case), engine, strategy=strategy)
                    came[way] = play(p, case, fill)
            except Exception as e:
                came[way] = e
        got = came[way]
        if isinstance(got, Exception):
            raise got
        return got

    return once
