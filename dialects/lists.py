"""What both engines' lists share: the names of elements, by which list they are of."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir.scalar import Call, Lit
from dialects.dialect import Emit


def depth(e: Call, at: int) -> int:
    """Argument `at` of a call as a number: how deep within others its list is."""
    found = e.args[at]
    assert isinstance(found, Lit)
    return int(str(found.value))


def named(name: str) -> Emit:
    return lambda d, e, a: exp.column(f"{name}{depth(e, 0)}")


NAMES: dict[str, str | Emit] = {"element": named("_e"), "carried": named("_a")}
