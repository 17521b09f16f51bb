"""Floats as text have the digits that Postgres shows: the fewest that tell a number from its neighbours."""

from __future__ import annotations

import random
import struct

import psycopg
import pyarrow as pa
import pytest

from tests.memory import warehouse

MARKED = [
    0.0,
    -0.0,
    1e-4,
    1e-5,
    1e6,
    999999.94,
    255455.625,
    1234567890.0,
    9.62774e18,
    16777216.0,
    3.4028235e38,
    1.1754944e-38,
]


def _real(x: float) -> float:
    """The nearest real."""
    return float(struct.unpack("f", struct.pack("f", x))[0])


def _numbers(column: pa.DataType) -> list[float]:
    rng = random.Random(7)
    spread = [rng.choice((1, -1)) * rng.random() * 10 ** rng.uniform(-10, 30) for _ in range(3000)]
    halves = [round(rng.random() * 10 ** rng.uniform(3, 7), rng.randint(0, 4)) for _ in range(3000)]
    large = [float((rng.getrandbits(53) | 1) << rng.randint(1, 12)) for _ in range(3000)]
    every = [*MARKED, *spread, *halves, *large]
    return list(map(_real, every)) if column == pa.float32() else every


@pytest.mark.parametrize(
    ("type_", "macro", "column"), [("real", "pg.real_text", pa.float32()), ("float8", "pg.float_text", pa.float64())]
)
def test_a_float_has_the_digits_of_postgres(server: str, type_: str, macro: str, column: pa.DataType) -> None:
    numbers = _numbers(column)
    with psycopg.connect(server) as c:
        shown = c.execute(
            f"SELECT array_agg(x::text ORDER BY i) FROM unnest(%s::{type_}[]) WITH ORDINALITY u(x, i)", (numbers,)
        ).fetchall()
    con = warehouse([])
    con.register("numbers", pa.table({"i": range(len(numbers)), "x": pa.array(numbers, column)}))
    got = [t for (t,) in con.execute(f"SELECT {macro}(x) FROM numbers ORDER BY i").fetchall()]
    assert [(w, g) for w, g in zip(shown[0][0], got, strict=True) if w != g] == []
