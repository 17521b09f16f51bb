"""A large transaction that executors apply: its parts are put together in a file, and applied at once."""

from __future__ import annotations

import random
from pathlib import Path

import psycopg
import pytest

from connectors.spark import batches
from tests.pipelines.test_large_transactions import MOVES, SCHEMA, moved, project
from tests.project import Project

pytestmark = pytest.mark.spark
VIEWS = {
    "joined": "SELECT p.name, count(*) AS n, sum(c.x) AS s FROM p JOIN c ON c.p = p.id GROUP BY p.name",
    "rows_of": "SELECT id, note, x FROM c",
    "sums": "SELECT p, sum(x) AS s FROM f GROUP BY p",
    "bags": "SELECT x, count(*) AS n FROM bag GROUP BY x",
    "spans": "SELECT id, span, days FROM spans",
}
SPANS = (
    "CREATE TABLE spans (span interval PRIMARY KEY, id int, days date[], note text)",
    "ALTER TABLE spans ALTER days SET STORAGE EXTERNAL",
    "INSERT INTO spans SELECT make_interval(hours => i), i, array_agg(date '2020-01-01' + j) FROM "
    "generate_series(1, 30) i, generate_series(1, 700) j GROUP BY i",
)
SPANNING = (
    "UPDATE spans SET id = id + 1 WHERE id % 3 = {k}",
    "UPDATE spans SET span = span + interval '1 day', id = -id WHERE id % 5 = {k}",
    "DELETE FROM spans WHERE id % 7 = {k}",
)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts each large transaction had."""
    found: list[int] = []
    made = batches.net

    def counted(folder: Path, staged: list, more: object) -> object:  # type: ignore[type-arg]
        found.append(1)

        def each() -> object:
            for some in more:  # type: ignore[attr-defined]
                found[-1] += 1
                yield some

        return made(folder, staged, each())  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "net", counted)
    return found


def executed(folder: Path, dsn: str) -> Project:
    p = project(folder, dsn, "spark")
    settings = p.home / "tidemark.toml"
    settings.write_text(settings.read_text().replace('"1GB"', '"none"').replace("rows = 700", "rows = 60"))
    for f in (p.home / "views").iterdir():
        f.unlink()
    p.write(VIEWS)
    p.source(*SCHEMA, *SPANS)
    p.deploy()
    return p


def test_every_kind_of_change(database: str, tmp_path: Path, parts: list[int]) -> None:
    p = executed(tmp_path, database)
    moves = [m for m in (*MOVES, *SPANNING) if "UPDATE d" not in m]
    for seed in range(3):
        moved(database, random.Random(seed), moves, 30)
        p.catch_up()
        p.assert_equal()
    assert len(parts) == 3 and min(parts) > 9
    assert not list((p.home / "warehouse" / "delta").glob("scratch-*/net"))


def test_what_is_not_sent_is_an_earlier_parts(database: str, tmp_path: Path, parts: list[int]) -> None:
    """Each statement is a part of its own: values that are kept out of line come from the part that had the row."""
    p = executed(tmp_path, database)
    with psycopg.connect(database) as c:
        c.execute("UPDATE c SET note = 'new ' || repeat(md5(id::text), 90) WHERE id % 2 = 0")
        c.execute("UPDATE c SET x = x + 1")
        c.execute("UPDATE c SET id = id + 5000")
        c.execute("DELETE FROM c WHERE id % 5 = 0")
        c.execute("UPDATE c SET x = -x WHERE id % 3 = 0")
        c.execute("UPDATE c SET id = id - 5000")
        c.execute("INSERT INTO c SELECT i, 1, i, 'again' FROM generate_series(1, 400) i ON CONFLICT DO NOTHING")
    p.catch_up()
    p.assert_equal()
    assert len(parts) == 1 and parts[0] > 20


def test_old_rows_of_some_parts_alone(database: str, tmp_path: Path, parts: list[int]) -> None:
    """A replica identity that is another one in the middle: it is taken at once."""
    p = executed(tmp_path, database)
    with psycopg.connect(database) as c:
        c.execute("UPDATE f SET x = x + 1")
        c.execute("ALTER TABLE f REPLICA IDENTITY DEFAULT")
        c.execute("UPDATE f SET x = x + 2")
        c.execute("UPDATE c SET x = x + 2")
        c.execute("ALTER TABLE f REPLICA IDENTITY FULL")
    p.catch_up()
    p.assert_equal()
