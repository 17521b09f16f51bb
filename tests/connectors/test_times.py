"""What taking paths took: what was longer ago counts less, and a process finds what another wrote."""

from __future__ import annotations

import pytest

from compiler.maintain.paced import Path
from connectors.duckdb import reached
from connectors.duckdb.session import scratch
from connectors.duckdb.times import BEGINNING, FADED, Times
from connectors.paced_states import Taken

A, B = (Path("public.t", "s"),), (Path("public.u", "s"), Path("inner", "s"))


def test_what_was_longer_ago_counts_less() -> None:
    times = Times([])
    times.add(A, Taken((1000,), 1.0))
    times.add(A, Taken((1000,), 2.0))
    (m,) = times.all()
    assert (m.times, *m.each, m.seconds) == pytest.approx((1.8, 1800.0, 2.8))


def test_few_rows_and_many_are_apart_and_fade_together() -> None:
    times = Times([])
    times.add(A, Taken((1000,), 1.0))
    for _ in range(20):
        times.add(A, Taken((3,), 0.1))
    (m,) = times.all()
    assert m.rows / m.times == pytest.approx(3.0) and m.times > FADED
    times.add(B, Taken((5, 2), 0.2))
    assert {m.paths for m in times.all()} == {A, B}


def test_another_process_finds_what_was_written() -> None:
    con, times = scratch(), Times([])
    con.execute("CREATE SCHEMA meta")
    con.execute(f"CREATE TABLE meta.measured ({reached.TABLES['measured']})")
    for paths, each in ((A, (1000,)), (A, (3,)), (B, (7, 70))):
        times.add(paths, Taken(each, 0.5))
    for _ in range(2):  # once more is no more
        reached.write(con, times.all())
    again = Times(reached.measured(con))
    assert sorted(map(repr, again.all())) == sorted(map(repr, times.all()))
    again.add(A, Taken((1000,), 0.5))
    assert len(again.all()) == 3


def test_what_a_transaction_takes_beside_its_programs_is_followed() -> None:
    times = Times([])
    assert times.beside == BEGINNING
    for _ in range(40):
        times.transaction(0.02)
    assert times.beside == pytest.approx(0.02, rel=1e-3)
