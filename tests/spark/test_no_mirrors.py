"""Keys from the source, kept by the driver: as on DuckDB, and nothing of their rows is in Delta."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.errors import TidemarkError
from connectors.failpoints import FailpointReached
from connectors.spark.local.engine import LocalEngine
from tests.pipelines.interleaved import assert_interleaved
from tests.pipelines.test_no_mirrors import VOTES, kept, keyed, project, rows, source
from tests.project import Project

SOME = "SELECT * FROM votes WHERE id IN (3, 4)"
WEIGHTS = {"weights": "SELECT weight, count(*) AS n FROM vote GROUP BY weight"}


def copies(p: Project) -> set[str]:
    """The mirrors that are in Delta."""
    return {f.name for f in (p.config.warehouse_path / "delta" / "mirror").glob("*") if list(f.glob("*.parquet"))}


def is_right(p: Project) -> None:
    assert rows(p, SOME) == sorted(source(p, 3) + source(p, 4), key=str)
    p.assert_equal()


def test_they_follow_the_stream_and_are_not_in_delta(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine="spark")
    assert keyed(p) == {"public.article", "public.vote"} and kept(p) == {"article": 0, "vote": 0}
    assert rows(p, SOME) == sorted(source(p, 3) + source(p, 4), key=str)
    assert kept(p) == {"article": 2, "vote": 20}
    is_right(p)  # for which keys may leave that are ahead of the stream, and come again
    p.source(
        "UPDATE vote SET article = 3 WHERE id IN (1, 2)",
        "UPDATE vote SET article = 8 WHERE id = 64",
        "INSERT INTO vote VALUES (1000, 4, 50, 'new'), (1001, 9, 50, 'new')",
        "UPDATE article SET title = 'other' WHERE id = 4",
    )
    p.catch_up()
    is_right(p)
    p.source("TRUNCATE vote")
    p.catch_up()
    is_right(p)
    assert kept(p)["vote"] == 0 and copies(p) == set()


@pytest.mark.parametrize("memory", ["2GB", "0"])
def test_a_table_that_another_view_reads_is_mirrored_whole(database: str, tmp_path: Path, memory: str) -> None:
    """And is Dist where all copies are."""
    p = project(tmp_path, database, engine="spark", memory=memory)
    is_right(p)
    p.source("UPDATE vote SET article = 3 WHERE id < 9")
    p.write(WEIGHTS)
    p.deploy()
    assert keyed(p) == {"public.article"} and kept(p)["vote"] == 600 and copies(p) == {"vote"}
    assert p.deployed.dist == (["public.vote"] if memory == "0" else [])
    is_right(p)
    p.source("UPDATE vote SET article = 4 WHERE id BETWEEN 5 AND 20", "DELETE FROM vote WHERE id = 6")
    p.catch_up()
    is_right(p)
    (p.home / "views" / "weights.sql").unlink()
    p.source("UPDATE vote SET weight = 5 WHERE id BETWEEN 5 AND 20")  # and waits
    p.deploy()
    assert keyed(p) == {"public.article", "public.vote"} and kept(p) == {"article": 0, "vote": 0}
    assert copies(p) == set() and p.deployed.dist == []
    is_right(p)
    p.source("UPDATE vote SET article = 3 WHERE id BETWEEN 5 AND 20")
    p.catch_up()
    is_right(p)


def test_a_copy_that_is_not_begun_is_made_by_the_next_deploy(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = project(
        tmp_path, database, engine="spark", others={"titles": "SELECT title, count(*) AS n FROM article GROUP BY title"}
    )
    is_right(p)
    p.write(WEIGHTS)

    def cut(*_: object, **__: object) -> None:
        raise FailpointReached("before a mirror is made")

    monkeypatch.setattr(LocalEngine, "create_mirror", cut)
    with pytest.raises(FailpointReached):
        p.deploy()
    monkeypatch.undo()
    p.source("UPDATE vote SET article = 3 WHERE id BETWEEN 5 AND 20")
    p.command("run", "--once")
    p.deploy()
    assert kept(p)["vote"] == 600
    is_right(p)


def test_where_the_file_is_lost_keys_are_asked_for_again(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine="spark", others=WEIGHTS)
    p.source("ALTER TABLE article ADD extra int")
    is_right(p)
    p.source("UPDATE vote SET article = 4 WHERE id < 20")
    p.catch_up()
    for f in (p.config.warehouse_path / "delta").glob("local.duckdb*"):
        f.unlink()
    p.source("UPDATE vote SET article = 3 WHERE id BETWEEN 10 AND 30")
    p.catch_up()
    assert keyed(p) == {"public.article"} and kept(p)["article"] == 0
    is_right(p)


def test_a_view_that_changes_reads_its_keys_again(database: str, tmp_path: Path) -> None:
    p = project(tmp_path, database, engine="spark")
    is_right(p)
    p.source("UPDATE vote SET weight = weight + 1 WHERE article = 3")
    (p.home / "views" / "votes.sql").write_text(
        VOTES.format(more="").replace("max(v.weight) AS top", "min(v.why) AS why")
    )
    p.deploy()
    assert [r[4] for r in rows(p, SOME)] == ["because", "because"]
    p.source("UPDATE vote SET why = 'a' WHERE article = 4")
    p.catch_up()
    p.assert_equal()
    assert [r[4] for r in rows(p, SOME)] == ["because", "a"]


@pytest.mark.parametrize("sequences", [20, 1_000])
def test_upqueries_and_commits_in_random_order(sequences: int, database: str, tmp_path: Path) -> None:
    assert_interleaved(project(tmp_path, database, engine="spark"), range(20_000, 20_000 + sequences))


def test_executors_keep_none(database: str, tmp_path: Path) -> None:
    with pytest.raises(TidemarkError, match="kept by the executors"):
        project(tmp_path, database, engine="spark", memory="none")
