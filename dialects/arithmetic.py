"""Arithmetic that both dialects spell alike."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir import types
from dialects.dialect import Dialect, tree


def in_two_parts(d: Dialect, macro: str, p: list[exp.Expr], s1: int, s2: int) -> exp.Expr:
    """A product with more digits after the point than are kept: the finer operand times the other one's leading digits, and its rest."""
    fine, other = p if s1 >= s2 else p[::-1]
    leading = d.cast(other.copy(), types.numeric(types.MAX_PRECISION, max(0, types.QUOTIENT_SCALE - max(s1, s2))))
    return tree(d, f"{macro}($1, $2, $3)", fine, other, leading)
