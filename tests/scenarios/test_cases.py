"""Views that once went wrong or were refused: each case is a schema, rows, views and batches; compared after every batch."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from tests.project import Project

CASES = sorted(p for p in (Path(__file__).parent / "cases").iterdir() if p.is_dir())


def views(case: Path) -> dict[str, str]:
    parts = re.split(r"^-- view: (\w+).*\n", (case / "views.sql").read_text(), flags=re.M)[1:]
    return {name: text.strip().rstrip(";") for name, text in zip(parts[::2], parts[1::2], strict=True)}


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_every_view_is_the_sources_after_every_batch(case: Path, database: str, tmp_path: Path) -> None:
    def play(script: Path) -> None:
        with psycopg.connect(database, autocommit=True) as c:
            c.execute(script.read_text().encode())

    p = Project.create(tmp_path, database, views(case))
    play(case / "schema.sql")
    play(case / "load.sql")
    p.deploy()
    p.assert_equal()
    for batch in sorted((case / "batches").glob("*.sql")):
        play(batch)
        p.assert_equal()
