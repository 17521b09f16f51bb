"""Paces: what is chosen leaves no more than it may, for about the least work there is; and the work that is told is
that of playing the period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.maintain.pace import paces
from compiler.maintain.pace.cost import OVERHEAD, PathCost, starting
from compiler.maintain.pace.paces import View, Work, choose, finishing, simulate
from compiler.maintain.paced import Path

A, B, C = Path("public.t", "inner"), Path("inner", "top"), Path("public.u", "top")


def cost(path: Path, per_row: float = 1.0, fan: float = 1.0, groups: float = 0.0, per_group: float = 0.0) -> PathCost:
    return PathCost(path, OVERHEAD, per_row, fan, groups, per_group)


def moving(groups: float = 100.0, below: float = 5_000.0) -> View:
    """An average that every change moves, met by all rows: what Figure 2 of the paper has."""
    of = [cost(A, groups=1.0, per_group=1.0), cost(B, per_row=below, fan=below / 2), cost(C)]
    return View(of, frozenset([A]), {"public.t": 50_000.0, "public.u": 50_000.0})


def of_one_program(some: Sequence[PathCost], rows: Sequence[float]) -> float:
    return starting(some) + sum(c.varying(n) for c, n in zip(some, rows, strict=True))


def test_one_batch_does_every_row_once() -> None:
    v = moving()
    w = simulate(v, 1, {A: 1})
    expected = v.paths[0].seconds(50_000) + of_one_program(v.paths[1:], [2, 50_000])
    assert w.total == w.final == pytest.approx(expected)


def test_what_is_undone_is_taken_rarely() -> None:
    """The average moves with every change: to meet all rows with it is left to the end, and adding up is done early."""
    of = [cost(A, per_row=20.0, groups=1.0), cost(B, per_row=50_000.0), cost(C)]
    v = View(of, frozenset([A]), {"public.t": 50_000.0, "public.u": 50_000.0})
    whole = simulate(v, 1, {A: 1})
    got = choose(v, 0.25)
    assert got.inner[A] > got.refresh == 1 and got.work.final <= 0.25 < whole.final
    assert got.at_once is not None and got.work.total < 0.8 * got.at_once.total


def test_what_cannot_be_met_is_not_paid_for() -> None:
    """Whatever the paces are, all rows meet the average at the end."""
    got = choose(moving(below=200_000.0), 0.0)
    assert got.refresh == 1 and got.work == simulate(moving(below=200_000.0), 1, {A: 1})


def test_a_bound_that_is_met_costs_nothing_more() -> None:
    v = moving()
    got = choose(v, 1e9)
    assert (got.refresh, dict(got.inner)) == (1, {A: 1})
    assert got.work == simulate(v, 1, {A: 1})


@st.composite
def views(draw: st.DrawFn) -> View:
    """A chain of two states over two tables."""
    n = st.sampled_from([1.0, 10.0, 1_000.0])
    inner = cost(A, draw(n), 1.0, draw(st.sampled_from([1.0, 50.0, 10_000.0])), draw(n))
    top = [cost(B, draw(n), draw(n)), cost(C, draw(n), draw(n))]
    return View([inner, *top], frozenset([A]), {"public.t": draw(n) * 100, "public.u": draw(n) * 100})


@settings(max_examples=60, deadline=None)
@given(v=views(), share=st.sampled_from([0.5, 0.2, 0.1, 0.05, 0.02]))
def test_the_greedy_choice_is_near_the_best(v: View, share: float) -> None:
    """Of all pairs of paces. Greedy may miss the best one, and the bound where no single step comes nearer to it."""
    bound = share * simulate(v, 1, {A: 1}).final
    bound = max(bound, 1.25 * simulate(v, 100, {A: 100}).final)
    got = choose(v, bound)
    best = min(
        (w for r, i in product(paces.LEVELS, repeat=2) if i >= r and (w := simulate(v, r, {A: i})).final <= bound),
        key=lambda w: w.total,
        default=None,
    )
    if got.work.final <= bound:
        assert best is not None and best.total <= got.work.total * 1.000001
        assert got.work.total <= best.total * 2 + 0.05
    if got.at_once is not None:
        assert got.work.total <= got.at_once.total


def test_what_computing_anew_takes_bounds_the_work_at_the_end() -> None:
    v = replace(moving(below=200_000.0), anew=0.1)
    assert simulate(v, 1, {A: 1}) == Work(0.1, 0.1)
    assert choose(v, 0.1).refresh == 1


def test_finishing_takes_what_each_path_makes_wait() -> None:
    v = moving()
    expected = v.paths[0].seconds(1_000) + of_one_program(v.paths[1:], [2, 10])
    assert finishing(v.paths, {A: 1_000.0, C: 10.0}) == pytest.approx(expected)


def test_paths_of_a_state_start_together_when_the_view_is_finished() -> None:
    slow = [cost(A), replace(cost(B), start=0.4), replace(cost(C), start=1.0)]
    assert starting(slow[1:]) == pytest.approx(1.2) and starting(slow[:1]) == slow[0].start
    v = View(slow, frozenset(), {"public.t": 1.0, "public.u": 1.0})
    assert simulate(v, 1, {}).total == pytest.approx(1.2 + OVERHEAD, rel=1e-3)


def test_an_inner_path_is_never_slower_than_what_readers_see() -> None:
    for bound in (1.0, 0.1, 0.05, 0.01):
        got = choose(moving(), bound)
        assert all(k >= got.refresh for k in got.inner.values())
