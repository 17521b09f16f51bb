"""What is computed from each element of a list of texts."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.ir.scalar import Call
from dialects.dialect import Dialect, Emit, tree
from dialects.lists import NAMES, depth


def _of_each(text: str, at: int = 2) -> Emit:
    """`_e` in the text is the name of the element; it is argument `at` that tells which list's it is."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        return tree(d, re.sub(r"\b_[aew]\b", lambda m: f"{m[0]}{depth(e, at)}", text), *a)

    return emit


def _ordered(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Equal ones stay in their order."""
    keys = ", ".join(f"k{i} := ${i + 1}" for i in range(2, len(a)))
    name = f"_e{depth(e, 1)}"
    rows = tree(d, f"LIST_TRANSFORM($1, lambda {name}, _i: STRUCT_PACK({keys}, i := _i, v := {name}))", *a)
    return tree(d, "LIST_TRANSFORM(LIST_SORT($1), lambda _s: _s.v)", rows)


FUNCTIONS: dict[str, str | Emit] = {
    **NAMES,
    "list_some": _of_each("LEN(LIST_FILTER($1, lambda _e: $2)) > 0"),
    "list_every": _of_each("LEN(LIST_FILTER($1, lambda _e: NOT $2)) = 0"),
    "list_kept": _of_each("LIST_FILTER($1, lambda _e: $2)"),
    "list_each": _of_each("LIST_TRANSFORM($1, lambda _e: $2)"),
    "list_flat": _of_each("FLATTEN(LIST_TRANSFORM($1, lambda _e: $2))"),
    "list_fold": _of_each(
        "LIST_REDUCE(LIST_TRANSFORM($1, lambda _e: [_e]), lambda _a, _w: "
        "LIST_EXTRACT(LIST_TRANSFORM(_w, lambda _e: $3), 1), $2)",
        3,
    ),  # an element as a list of one, which is of the type of what is carried
    "list_let": _of_each("LIST_EXTRACT(LIST_TRANSFORM([$1], lambda _a: $2), 1)"),
    "list_ordered": _ordered,
}
