"""A view of which no paces are known to leave as little as they may is finished once more, soon after another time."""

from __future__ import annotations

from typing import Any

from compiler.maintain.pace.paces import Paces, Work
from pipelines.pacing.finishing import PACE, PROBE
from pipelines.pacing.planning import Planned
from pipelines.pacing.turns import Pacing, Progress


def progress(unmet: bool) -> Progress:
    paces = Paces(4, {}, Work(2.0, 0.5), None)
    return Progress(0.0, 0.0, plan=Planned(paces, {"public.t": 1_000.0}, 1.0, unmet), finished=1)


def often(p: Progress, arrived: float) -> str | None:
    p.arrived = p.refreshed + arrived
    nothing: Any = None
    return Pacing(nothing)._often(p)


def test_it_is_once() -> None:
    p = progress(unmet=True)
    assert [often(p, 5.0), often(p, 12.0), often(p, 12.0), often(p, 250.0)] == [None, PROBE, None, PACE]


def test_it_is_not_where_paces_are_known_to_do() -> None:
    p = progress(unmet=False)
    assert [often(p, 12.0), often(p, 250.0)] == [None, PACE]


def test_it_is_not_before_the_first_time() -> None:
    p = progress(unmet=True)
    p.finished = 0
    assert often(p, 12.0) is None
