"""What paths cost, by what was measured: to start, and for their rows."""

from __future__ import annotations

import pytest

from compiler.maintain.pace.cost import OVERHEAD, PathCost, starting
from compiler.maintain.paced import Path
from connectors.paced_states import Measured
from pipelines.pacing.planning import corrected

A, B = Path("public.t", "s"), Path("public.u", "s")
START, ROW = 0.03, 2e-6  # what is so in truth


def cost(path: Path) -> PathCost:
    return PathCost(path, OVERHEAD, 1.0, 1.0, 0.0, 0.0)


def measured(paths: tuple[Path, ...], sizes: list[int], start: float = START) -> list[Measured]:
    """Taken as many times, each with so many rows of each path."""
    return [Measured(paths, 1, (float(n),) * len(paths), start + ROW * n * len(paths)) for n in sizes]


def test_times_with_more_rows_and_fewer_tell_what_it_takes_to_start() -> None:
    (c,) = corrected([cost(A)], measured((A,), [1_000, 50_000, 200_000]))
    assert c.start == pytest.approx(START) and c.seconds(1_000_000) == pytest.approx(START + ROW * 1e6)


def test_times_alike_keep_the_share_that_was_estimated() -> None:
    (c,) = corrected([cost(A)], measured((A,), [10_000, 10_100, 9_900]))
    assert c.seconds(10_000) == pytest.approx(START + ROW * 1e4, rel=1e-3)
    assert c.start / c.seconds(10_000) == pytest.approx(OVERHEAD / (OVERHEAD + 0.01), rel=1e-3)


def test_what_was_taken_alone_has_its_rows_share_from_when_it_was_with_others() -> None:
    together = measured((A, B), [1_000, 50_000, 200_000], 0.05)
    a, b = corrected([cost(A), cost(B)], [*measured((A,), [10_000] * 3), *together])
    assert a.start == pytest.approx(START) and starting([b, b]) == pytest.approx(0.05)
    assert a.varying(1e6) == pytest.approx(2.0) == b.varying(1e6)


def test_fewer_rows_that_took_longer_are_no_reason_for_rows_that_save() -> None:
    odd = [Measured((A,), 1, (1_000.0,), 2.0), Measured((A,), 1, (100_000.0,), 1.0)]
    (c,) = corrected([cost(A)], odd)
    assert 1.0 <= c.start <= 2.0 and c.varying(1e6) < 0.01


def test_of_what_was_not_measured_nothing_changes() -> None:
    assert corrected([cost(A)], measured((B,), [1, 1_000])) == [cost(A)]
