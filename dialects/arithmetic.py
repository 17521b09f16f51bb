"""Arithmetic that both dialects spell alike."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar
from dialects.dialect import Dialect, Emit, tree


def in_two_parts(d: Dialect, macro: str, p: list[exp.Expr], s1: int, s2: int) -> exp.Expr:
    """A product with more digits after the point than are kept: the finer operand times the other one's leading
    digits, and its rest."""
    fine, other = p if s1 >= s2 else p[::-1]
    leading = d.cast(other.copy(), types.numeric(types.MAX_PRECISION, max(0, types.QUOTIENT_SCALE - max(s1, s2))))
    return tree(d, f"{macro}($1, $2, $3)", fine, other, leading)


def quotient_text(macro: str) -> Emit:
    """The text of a quotient, by a macro that takes both operands and how many digits each has after the point."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        s, t = (types.digits(x.type)[1] for x in e.args)
        return tree(d, f"{macro}($1, $2, {s}, {t})", *a)

    return emit


def compared(e: Scalar) -> Scalar:
    """One side of a comparison. A product with a constant below ten of two digits after the point is compared with
    all of its digits: to cut it to the scale of its type costs an engine a division of 128 bits a row, and changes
    nothing."""
    if (
        not isinstance(e, Call)
        or e.fn != "*"
        or not types.is_numeric(e.type)
        or not all(types.is_exact(x.type) for x in e.args)
    ):
        return e
    small = any(isinstance(x, Lit) and (d := types.digits(x.type))[0] <= 1 and d[1] <= 2 for x in e.args)
    whole = sum(types.digits(x.type)[1] for x in e.args)
    if not small or not (e.type.scale or 0) < whole <= types.QUOTIENT_SCALE + 2:
        return e
    return replace(e, type=types.numeric(types.MAX_PRECISION, whole))
