"""What is computed from each element of a list of texts."""

from __future__ import annotations

from sqlglot import exp

from compiler.ir.scalar import Call
from dialects.dialect import Dialect, Emit, tree
from dialects.lists import NAMES, depth
from dialects.spark.common import lambda_of


def _over(name: str) -> Emit:
    """A higher function over the elements."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=[a[0], lambda_of(f"_e{depth(e, 2)}", a[1])])

    return emit


def _flat(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    return exp.Anonymous(this="flatten", expressions=[_over("transform")(d, e, a)])


def _fold(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    at = depth(e, 3)
    names = [exp.to_identifier(f"_a{at}"), exp.to_identifier(f"_e{at}")]
    step = exp.Lambda(this=d.cast(a[2], e.type), expressions=names)
    return exp.Anonymous(this="aggregate", expressions=[a[0], d.cast(a[1], e.type), step])


def _let(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    one = exp.Anonymous(this="array", expressions=[a[0]])
    body = exp.Anonymous(this="transform", expressions=[one, lambda_of(f"_a{depth(e, 2)}", a[1])])
    return exp.Anonymous(this="get", expressions=[body, exp.Literal.number(0)])


def _ordered(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
    """Equal ones stay in their order."""
    name = f"_e{depth(e, 1)}"
    keys = ", ".join(f"'k{i}', ${i + 1}" for i in range(2, len(a)))
    row = tree(d, f"NAMED_STRUCT({keys}, 'i', _i, 'v', {name})", *a)
    numbered = exp.Lambda(this=row, expressions=[exp.to_identifier(name), exp.to_identifier("_i")])
    rows = exp.Anonymous(this="transform", expressions=[a[0], numbered])
    values = exp.Anonymous(this="sort_array", expressions=[rows])
    return exp.Anonymous(this="transform", expressions=[values, lambda_of("_s", tree(d, "_s.v"))])


FUNCTIONS: dict[str, str | Emit] = {
    **NAMES,
    "list_some": _over("exists"),
    "list_every": _over("forall"),
    "list_kept": _over("filter"),
    "list_each": _over("transform"),
    "list_flat": _flat,
    "list_fold": _fold,
    "list_let": _let,
    "list_ordered": _ordered,
}
