"""What programs take, between what was measured and beyond it."""

from __future__ import annotations

import pytest

from compiler.maintain.pace.curve import Knot, curve


def test_it_is_what_was_measured_where_that_is_known() -> None:
    c = curve([Knot(1.0, 0.3, 5.0), Knot(5.0, 0.8, 2.0), Knot(20.0, 1.0, 1.0)], starting=0.1)
    assert c is not None
    assert [c.seconds(x) for x in (1.0, 5.0, 20.0)] == pytest.approx([0.3, 0.8, 1.0])
    assert c.seconds(3.0) == pytest.approx(0.55)
    assert 0.03 <= c.seconds(0.01) < 0.3  # not as the line through all of them, which begins at half a second
    assert c.seconds(35.0) == pytest.approx(1.2)


def test_more_rows_never_take_less() -> None:
    c = curve([Knot(1.0, 0.5, 1.0), Knot(2.0, 0.3, 1.0), Knot(4.0, 0.4, 1.0)], starting=0.1)
    assert c is not None
    at = [c.seconds(x / 10) for x in range(60)]
    assert at == sorted(at) and c.seconds(4.0) == pytest.approx(0.4)


def test_one_time_is_told_apart_by_the_estimate() -> None:
    c = curve([Knot(3.0, 0.4, 1.0), Knot(3.1, 0.4, 1.0)], starting=1.0)
    assert c is not None and c.start == pytest.approx(0.1, rel=0.05)
    assert c.seconds(6.1) == pytest.approx(0.7, rel=0.05)


def test_nothing_measured_tells_nothing() -> None:
    assert curve([], starting=0.1) is None and curve([Knot(0.0, 1.0, 1.0)], starting=0.1) is None
