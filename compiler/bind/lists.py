"""What is computed from each element of a list of texts within one value.

`element(d)` stands for the element, and `carried(d)` for what a fold has so far; d tells those of a list within
another one's apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.ir import types
from compiler.ir.scalar import Call, Lit, Scalar
from compiler.ir.types import BOOL, INT4, TEXT

TEXTS = types.array(TEXT)


def element(depth: int = 0) -> Scalar:
    return Call("element", (Lit(depth, INT4),), TEXT)


def carried(depth: int = 0) -> Scalar:
    return Call("carried", (Lit(depth, INT4),), TEXTS)


def listed(parts: Sequence[Scalar]) -> Scalar:
    return Call("array", tuple(parts), TEXTS)


def some(xs: Scalar, condition: Scalar, depth: int = 0) -> Scalar:
    """Whether a condition, which is never NULL, holds for an element; NULL of no list."""
    return Call("list_some", (xs, condition, Lit(depth, INT4)), BOOL)


def every(xs: Scalar, condition: Scalar, depth: int = 0) -> Scalar:
    """Whether it holds for all."""
    return Call("list_every", (xs, condition, Lit(depth, INT4)), BOOL)


def kept(xs: Scalar, condition: Scalar, depth: int = 0) -> Scalar:
    """The elements for which it holds."""
    return Call("list_kept", (xs, condition, Lit(depth, INT4)), TEXTS)


def each(xs: Scalar, value: Scalar, depth: int = 0) -> Scalar:
    """What is computed from each, a text."""
    return Call("list_each", (xs, value, Lit(depth, INT4)), TEXTS)


def flat(xs: Scalar, values: Scalar, depth: int = 0) -> Scalar:
    """What is computed from each, lists, one after the other."""
    return Call("list_flat", (xs, values, Lit(depth, INT4)), TEXTS)


def fold(xs: Scalar, start: Scalar, step: Scalar, depth: int = 0) -> Scalar:
    """From `start`, a list, what `step` makes of what is carried and of each element in turn."""
    return Call("list_fold", (xs, start, step, Lit(depth, INT4)), TEXTS)


def ordered(xs: Scalar, keys: Sequence[Scalar], depth: int = 0) -> Scalar:
    """By what is computed from each."""
    return Call("list_ordered", (xs, Lit(depth, INT4), *keys), TEXTS)


def let(value: Scalar, body: Scalar, depth: int) -> Scalar:
    """The body, in which `carried` is a list that is computed once."""
    return Call("list_let", (value, body, Lit(depth, INT4)), body.type)


def last(xs: Scalar) -> Scalar:
    return Call("array_get", (xs, Call("cardinality", (xs,), INT4)), TEXT)


def but_last(xs: Scalar) -> Scalar:
    size = Call("cardinality", (xs,), INT4)
    return Call("array_slice", (xs, Lit(1, INT4), Call("-", (size, Lit(1, INT4)), INT4)), TEXTS)


def is_empty(xs: Scalar) -> Scalar:
    return Call("=", (Call("cardinality", (xs,), INT4), Lit(0, INT4)), BOOL)


def appended(xs: Scalar, x: Scalar) -> Scalar:
    return Call("array_append", (xs, x), TEXTS)
