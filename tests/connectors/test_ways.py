"""The way of a batch is the fastest one, by what batches of its kind took."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.duckdb.ways import AGAIN, FIRST, SAMPLES, Kind, Way, Ways
from tests.project import Project

KIND = (frozenset(("public.t",)), 4)


def play(ways: Ways, batches: int, **took: float) -> list[str]:
    """The ways of so many batches, where each takes as long as is said, the likeliest first."""
    out = []
    for _ in range(batches):
        way = ways.choose(KIND, [Way(w) for w in took])
        ways.took(KIND, way, took[way.value])
        out.append(way.value)
    return out


@pytest.mark.parametrize("took", [{"fetch": 1.0, "read": 2.0}, {"fetch": 2.0, "read": 1.0}])
def test_both_are_tried_and_the_faster_is_taken(took: dict[str, float]) -> None:
    taken = play(Ways(), 200, **took)
    assert taken[: FIRST + 1] == ["fetch"] * FIRST + ["read"]
    other = max(took, key=lambda w: took[w])
    assert 0 < taken[FIRST + 1 :].count(other) <= 200 / AGAIN


@pytest.mark.parametrize("best", ["fetch", "read", "anew"])
def test_the_best_of_three_is_taken(best: str) -> None:
    took = {w: 1.0 if w == best else 2.5 for w in ("fetch", "read", "anew")}
    taken = play(Ways(), 200, **took)
    assert set(taken[: FIRST + 2]) == set(took) and taken[FIRST + 2 :].count(best) >= 190


def test_the_slower_is_not_tried_again_where_it_is_hopeless() -> None:
    assert play(Ways(), 300, fetch=1.0, read=50.0).count("read") == 1


@pytest.mark.parametrize("fetch", [1.0, 1.2])
def test_ways_that_are_near_are_compared_by_more_than_their_first_runs(fetch: float) -> None:
    """Whose first runs were slow, as those before statements are prepared are, is not the slower one for that."""
    ways, both = Ways[Way](), [Way.FETCH, Way.READ]
    took = {Way.FETCH: [1.9, 1.5, *[fetch] * 98], Way.READ: [1.4, *[1.1] * 99]}
    taken = []
    for _ in range(100):
        way = ways.choose(KIND, both)
        ways.took(KIND, way, took[way][taken.count(way)])
        taken.append(way)
    assert taken[:4] == [Way.FETCH, Way.FETCH, Way.READ, Way.FETCH]
    best = min(both, key=lambda w: took[w][-1])
    assert taken[12:].count(best) >= 85


def test_it_follows_a_change() -> None:
    ways = Ways()
    play(ways, 100, fetch=1.0, read=1.5)
    taken = play(ways, 4 * AGAIN * SAMPLES, fetch=3.0, read=1.5)
    assert taken[-AGAIN:].count("fetch") <= 1


def test_kinds_do_not_know_of_each_other() -> None:
    ways = Ways()
    play(ways, 10, fetch=2.0, read=1.0)
    both = [Way.FETCH, Way.READ]
    assert ways.choose(KIND, both) is Way.READ and ways.choose((KIND[0], 5), both) is Way.FETCH


def test_one_way_is_no_choice() -> None:
    assert set(play(Ways(), 10, anew=1.0)) == {"anew"}


def test_batches_of_other_views_are_of_another_kind(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they took says nothing of what these take."""
    kinds, took = [], Ways.took

    def taken(self: Ways[Way], kind: Kind, way: Way, seconds: float) -> None:
        kinds.append(kind)
        took(self, kind, way, seconds)

    monkeypatch.setattr(Ways, "took", taken)
    p = Project.create(tmp_path, database, {"a": "SELECT x, count(*) AS n FROM t GROUP BY x"})
    p.source("CREATE TABLE t (id int PRIMARY KEY, x int)", "INSERT INTO t SELECT i, i % 3 FROM generate_series(1, 9) i")
    p.deploy()
    p.source("UPDATE t SET x = 1 WHERE id = 5")
    p.catch_up()
    p.write({"a": "SELECT x, count(*) AS n FROM t GROUP BY x", "b": "SELECT max(x) AS x FROM t"})
    p.deploy()
    p.source("UPDATE t SET x = 2 WHERE id = 5")
    p.catch_up()
    (before, after) = (k for k in dict.fromkeys(kinds) if "public.t" in k[0])
    assert before != after and before[0] < after[0]
    p.assert_equal()
