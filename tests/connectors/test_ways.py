"""The way of a batch is the faster one, by what batches of its kind took."""

from __future__ import annotations

import pytest

from connectors.duckdb.ways import AGAIN, FIRST, SAMPLES, Ways

KIND = (frozenset(("public.t",)), 4)


def play(ways: Ways, batches: int, fetching: float, reading: float) -> list[bool]:
    out = []
    for _ in range(batches):
        out.append(ways.fetches(KIND))
        ways.took(KIND, out[-1], fetching if out[-1] else reading)
    return out


@pytest.mark.parametrize(("fetching", "reading"), [(1.0, 2.0), (2.0, 1.0)])
def test_both_are_tried_and_the_faster_is_taken(fetching: float, reading: float) -> None:
    taken = play(Ways(), 200, fetching, reading)
    assert taken[: FIRST + 1] == [True] * FIRST + [False]
    other = fetching > reading
    assert 0 < taken[FIRST + 1 :].count(other) <= 200 / AGAIN


def test_the_slower_is_not_tried_again_where_it_is_hopeless() -> None:
    assert play(Ways(), 300, 1.0, 50.0).count(False) == 1


def test_it_follows_a_change() -> None:
    ways = Ways()
    play(ways, 100, 1.0, 1.5)
    taken = play(ways, 4 * AGAIN * SAMPLES, 3.0, 1.5)
    assert taken[-AGAIN:].count(True) <= 1


def test_kinds_do_not_know_of_each_other() -> None:
    ways = Ways()
    play(ways, 10, 2.0, 1.0)
    assert not ways.fetches(KIND) and ways.fetches((KIND[0], 5))
