"""A project with three views over two tables, deployed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.trust import VIEWS, T
from tests.project import Project


@pytest.fixture
def p(database: str, tmp_path: Path) -> Project:
    project = Project.create(tmp_path, database, VIEWS)
    project.source(*T)
    project.deploy()
    return project
