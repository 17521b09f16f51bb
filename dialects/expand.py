"""Macros for engines that have none to keep: calls are replaced by what they stand for when SQL is printed.

An argument that the body uses more than once is computed once, by a lambda over an array of one element.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp

Macros = Mapping[str, tuple[tuple[str, ...], str]]  # name -> (parameters, body)


def expand(e: exp.Expr, macros: Macros, dialect: str) -> exp.Expr:
    """`e` with no call of a macro left."""
    if not macros or not any(n.name.lower() in macros for n in e.find_all(exp.Anonymous)):
        return e
    numbers = itertools.count(1)

    def go(n: exp.Expr) -> exp.Expr:
        if isinstance(n, exp.Anonymous) and n.name.lower() in macros:
            return _call(n, macros, dialect, numbers)
        return n

    out = e.copy()
    while any(n.name.lower() in macros for n in out.find_all(exp.Anonymous)):
        out = out.transform(go, copy=False)
    return out


def _call(n: exp.Anonymous, macros: Macros, dialect: str, numbers: Iterator[int]) -> exp.Expr:
    params, text = macros[n.name.lower()]
    body = _renamed(_body(text, dialect).copy(), numbers)
    uses = {p: sum(c.name == p for c in body.find_all(exp.Column)) for p in params}
    bound: list[tuple[str, exp.Expr]] = []
    values: dict[str, exp.Expr] = {}
    for p, a in zip(params, n.expressions, strict=True):
        plain = (
            isinstance(a, (exp.Column, exp.Literal, exp.Null))
            or isinstance(a, exp.Neg)
            and isinstance(a.this, exp.Literal)
        )
        if uses[p] > 1 and not plain:
            name = f"_{p}{next(numbers)}"
            bound.append((name, a))
            values[p] = exp.column(name)
        else:
            values[p] = a if plain else exp.Paren(this=a)

    def put(x: exp.Expr) -> exp.Expr:
        return values[x.name].copy() if isinstance(x, exp.Column) and not x.table and x.name in values else x

    out = body.transform(put, copy=False)
    for name, a in reversed(bound):
        inner = exp.Lambda(this=out, expressions=[exp.to_identifier(name)])
        one = exp.Anonymous(this="array", expressions=[a])
        out = exp.Anonymous(
            this="get", expressions=[exp.Anonymous(this="transform", expressions=[one, inner]), exp.Literal.number(0)]
        )
    return out if isinstance(out, exp.Anonymous) else exp.Paren(this=out)


@functools.cache
def _body(text: str, dialect: str) -> exp.Expr:
    return parse(text, dialect)


def parse(text: str, dialect: str) -> exp.Expr:
    """SQL as written: sqlglot would print PARSE_JSON(x) as x."""

    def keep(n: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="parse_json", expressions=[n.this]) if isinstance(n, exp.ParseJSON) else n

    return sqlglot.parse_one(text, read=dialect).transform(keep, copy=False)


def _stands_alone(x: exp.Identifier) -> bool:
    """A value of its own, as sqlglot leaves a lambda's variable: no qualified column, and no name of a field."""
    if isinstance(x.parent, exp.Column):
        return not x.parent.table
    return not (isinstance(x.parent, exp.PropertyEQ) and x.arg_key == "this" or x.arg_key == "alias")


def _renamed(e: exp.Expr, numbers: Iterator[int]) -> exp.Expr:
    """Variables of lambdas under names of their own, so that none of an argument's is caught; no table's alias
    begins with _."""
    for node in list(e.find_all(exp.Lambda)):
        for p in node.expressions:
            old, new = p.name, f"_{p.name.lstrip('_')}{next(numbers)}"
            p.set("this", new)
            for x in list(node.this.find_all(exp.Identifier)):
                if x.this == old and _stands_alone(x):
                    x.set("this", new)
    return e
