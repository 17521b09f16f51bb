"""What an engine's SQL is like, as data: spelling, types, functions, and what it can do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from compiler.ir.relation import WindowCall
from compiler.ir.scalar import Call
from compiler.ir.types import MAX_PRECISION, Type
from compiler.spelling import ident
from dialects.expand import Macros, expand, parse

__all__ = ["Dialect", "Emit", "extreme", "fill", "ident", "tree", "cast_to_type", "wrap"]

LONG = 30  # digits of numerics of which a hundred million may add up to more than 128 bits have
WRAPS = 1.4  # times the largest numeric, from which on a sum may be beyond 128 bits
Emit = Callable[["Dialect", Call, list[exp.Expr]], exp.Expr]


@dataclass(frozen=True)
class Dialect:
    """An engine's dialect. `functions` maps canonical calls to templates ($1, $2, … are arguments) or emitters."""

    name: str
    sqlglot: str
    types: Callable[[Type], str]
    functions: Mapping[str, str | Emit]
    copies: str  # template of a select item that repeats a row $1 times
    unnest: Mapping[str, str]  # set-returning functions: template of a SELECT giving columns x (or key, value) and o
    mirrors: Mapping[tuple[str, bool], tuple[str, bool]]  # (time, no negative weights) → schema, whether it has weights
    semi_side: str = ""  # what stands before SEMI and ANTI JOIN
    fetches: bool = False  # it reads large mirrors by keys in steps of their own, which an index may answer
    filters_below_limits: bool = False  # a join's filter may get below ORDER BY … LIMIT, unless a window is between
    hashes_comparisons: bool = False  # outer and anti joins are hashed only if every condition compares the two sides
    joins_unequal: bool = False  # it may join tables by <> before the conditions that hold for few rows
    macros: Macros = field(default_factory=dict)  # put in the place of their calls, for an engine that keeps none
    setup: Callable[[], Sequence[str]] = tuple  # statements that prepare a warehouse
    sort_keys: Mapping[str, str] = field(default_factory=dict)  # template of what values of a type are ordered by
    forms: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # templates of what differs between values that the engine finds equal
    frames: Callable[[WindowCall], bool] = lambda c: True  # whether it has words for the frame of a window function
    window_filters: bool = True  # FILTER of window functions
    storage: Callable[[Type], str] = lambda t: ""  # what a stored column says after its type
    one_digit: str = ""  # template of an integer $1 of one digit, where multiplying by one of many is slow
    large_total: str = ""  # template of a sum $1 of numerics that is an error from about $2 on, where it would wrap

    def type_sql(self, t: Type) -> str:
        return self.types(t)

    def forms_of(self, t: Type) -> tuple[str, ...]:
        return self.forms.get(str(t), ())

    def sort_key(self, t: Type) -> str | None:
        """The template of what equal values of a type have in common; none where they are the same."""
        return self.sort_keys.get(f"{t.element.name}[]" if t.element is not None else t.name)

    def data_type(self, t: Type) -> exp.DataType:
        return _data_type(self.types(t), self.sqlglot)

    def cast(self, e: exp.Expr, t: Type) -> exp.Expr:
        return exp.Cast(this=e, to=self.data_type(t))

    def one(self, weight: exp.Expr) -> exp.Expr:
        """A weight that is 1 or -1, as a factor of numerics."""
        return self.template(self.one_digit, [weight]) if self.one_digit else weight

    def total(self, x: exp.Expr, t: Type) -> exp.Expr:
        """The sum of values of a type."""
        if not self.large_total or t.name != "numeric" or (t.precision or 0) < LONG:
            return exp.Sum(this=x)
        limit = exp.Literal.number(f"{WRAPS}e{MAX_PRECISION - (t.scale or 0)}")
        return self.template(self.large_total, [x, limit])

    def template(self, text: str, args: list[exp.Expr]) -> exp.Expr:
        return fill(text, self.sqlglot, args)

    def sql(self, e: exp.Expr, pretty: bool = True) -> str:
        """The text of a tree, which printing may change."""
        return expand(e, self.macros, self.sqlglot).sql(dialect=self.sqlglot, pretty=pretty, comments=True, copy=False)


@functools.lru_cache(maxsize=512)
def _data_type(text: str, dialect: str) -> exp.DataType:
    return exp.DataType.build(text, dialect=dialect)


@functools.lru_cache(maxsize=2048)
def _template(text: str, dialect: str) -> exp.Expr:
    import re

    return parse(re.sub(r"\$(\d+)", r"arg__\1", text), dialect)


def fill(text: str, dialect: str, args: list[exp.Expr]) -> exp.Expr:
    """A template with its arguments in place."""
    tree = _template(text, dialect).copy()

    def put(n: exp.Expr) -> exp.Expr:
        if isinstance(n, exp.Column) and n.name.startswith("arg__"):
            return wrap(args[int(n.name[5:]) - 1].copy())
        return n

    return tree.transform(put, copy=False)


def tree(d: Dialect, text: str, *args: exp.Expr) -> exp.Expr:
    """A template in the dialect, with its arguments."""
    return d.template(text, list(args))


def cast_to_type(text: str) -> Emit:
    """A template whose result is cast to the call's type; in an aggregate of it, DISTINCT goes to the argument."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        out = d.template(text, [x for x in a if not isinstance(x, exp.Distinct)])
        if any(isinstance(x, exp.Distinct) for x in a):
            for f in out.find_all(exp.AggFunc):
                f.set("this", exp.Distinct(expressions=[f.this]))
        return d.cast(out, e.type)

    return emit


def extreme(op: str, key: str = "$1") -> Emit:
    """GREATEST (>) or LEAST (<) by comparisons of a key: the first of equal ones, NULLs left out."""

    def emit(d: Dialect, e: Call, a: list[exp.Expr]) -> exp.Expr:
        out = a[0]
        for x in a[1:]:
            beyond = exp.GT if op == ">" else exp.LT
            test = beyond(this=tree(d, key, x), expression=tree(d, key, out))
            out = tree(d, "CASE WHEN $1 IS NULL OR $3 THEN $2 ELSE $1 END", out, x, test)
        return out

    return emit


def wrap(e: exp.Expr) -> exp.Expr:
    """Parentheses where an operand needs them."""
    if isinstance(
        e, (exp.Binary, exp.Not, exp.Between, exp.In, exp.Is, exp.Case, exp.Neg, exp.Interval)
    ) and not isinstance(e, exp.Paren):
        return exp.Paren(this=e)
    return e


def varies(e: exp.Expr) -> bool:
    """Whether an expression reads a column: a constant orders nothing, and engines may take it for a column's place."""
    return e.find(exp.Column) is not None
