"""Scalar expressions: columns, literals and calls. A node is immutable, typed, and compared by structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from compiler.errors import InvalidSql
from compiler.formats.input import read
from compiler.ir import types
from compiler.ir.types import Type

Value = None | bool | int | float | str | tuple["Value", ...]


class Scalar:
    """A value computed from one row."""

    type: Type

    @property
    def children(self) -> tuple[Scalar, ...]:
        return ()

    def rebuild(self, children: tuple[Scalar, ...]) -> Scalar:
        assert not children
        return self


@dataclass(frozen=True, slots=True)
class Col(Scalar):
    """A column of the input, by its name, which is unique within a relation."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Outer(Scalar):
    """A column of an enclosing query; none is left after normalization."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lit(Scalar):
    """A constant. Numbers are kept as their text, so that no digit is lost; NULL is None. `at`: where in its text
    the view has it."""

    value: Value
    type: Type
    at: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call(Scalar):
    """A function, operator, cast or CASE. What `fn` means is Postgres' meaning of it on these types."""

    fn: str
    args: tuple[Scalar, ...]
    type: Type

    @property
    def children(self) -> tuple[Scalar, ...]:
        return self.args

    def rebuild(self, children: tuple[Scalar, ...]) -> Scalar:
        return replace(self, args=children)


TRUE = Lit(True, types.BOOL)
FALSE = Lit(False, types.BOOL)


def null(t: Type) -> Lit:
    return Lit(None, t)


def call(fn: str, t: Type, *args: Scalar) -> Call:
    return Call(fn, args, t)


def cast(e: Scalar, t: Type) -> Scalar:
    """`e` as type `t`; an untyped literal is read as one, which raises InvalidSql where it cannot be."""
    if e.type == t:
        return e
    if isinstance(e, Lit) and e.value is None:
        return Lit(None, t)
    if isinstance(e, Lit) and e.type.name == "unknown" and isinstance(e.value, str):
        return _literal(read_literal(e, t), t)
    if types.is_string(t) and is_quotient(e):
        return cast(Call("quotient_text", e.args, types.TEXT), t)
    if (
        types.is_string(t)
        and isinstance(e, Call)
        and (types.is_varying(e.type) or e.fn in ("case", "coalesce") and _of_varying_scale(e.type))
    ):
        return _text_of_branches(e, t)
    return Call("cast", (e,), t)


def is_quotient(e: Scalar) -> TypeGuard[Call]:
    """Whether the digits of a division can be told, as Postgres chooses them by its operands."""
    return (
        isinstance(e, Call)
        and e.fn == "/"
        and types.is_numeric(e.type)
        and all(types.has_fixed_scale(a.type) for a in e.args)
    )


def _of_varying_scale(t: Type) -> bool:
    return types.is_numeric(t) and not types.has_fixed_scale(t)


def _text_of_branches(e: Call, t: Type) -> Scalar:
    """The text of a numeric that is one of several: of the one it is, with the digits that one has."""
    if e.fn == "cast" and types.is_exact(e.args[0].type):
        return cast(e.args[0], t)
    if e.fn == "cast" and types.is_float(e.args[0].type):
        return cast(Call("float_digits", e.args, types.TEXT), t)
    if e.fn == "case":
        return Call("case", tuple(cast(a, t) if i % 2 or i == len(e.args) - 1 else a for i, a in enumerate(e.args)), t)
    if e.fn == "coalesce":
        return Call("coalesce", tuple(cast(a, t) for a in e.args), t)
    if e.fn in ("greatest", "least") and len(e.args) == 2:
        a, b = e.args
        first = Call(">=" if e.fn == "greatest" else "<=", (a, b), types.BOOL)
        return case(
            [(is_null(a), cast(b, t)), (Call("or", (is_null(b), first), types.BOOL), cast(a, t))], cast(b, t), t
        )
    return Call("cast", (e,), t)


def read_literal(e: Lit, t: Type) -> str:
    """The text of an untyped literal as a value of `t`; raises InvalidSql where Postgres refuses it, with its place."""
    try:
        return read(str(e.value), t)
    except InvalidSql as error:
        error.at = e.at
        raise


def _literal(text: str, t: Type) -> Scalar:
    """An untyped literal that was read as `t`; what could not be read there is left to a cast."""
    if types.is_integer(t) and text.lstrip("-").isdigit():
        return Lit(int(text), t)
    if t.name == "bool" and text in ("true", "false"):
        return Lit(text == "true", t)
    if t.name == "bpchar":
        return Lit((text[: t.precision] if t.precision else text).rstrip(" "), t)
    if t.name == "varchar":
        return Lit(text[: t.precision] if t.precision else text, t)
    if types.is_number(t) or t.name == "bool":
        return Call("cast", (Lit(text, types.TEXT),), t)
    return Lit(text, t)


def conj(parts: Sequence[Scalar]) -> Scalar:
    """AND of the parts; TRUE of none."""
    flat = [p for p in parts if p != TRUE]
    if not flat:
        return TRUE
    return flat[0] if len(flat) == 1 else Call("and", tuple(flat), types.BOOL)


def conjuncts(e: Scalar) -> list[Scalar]:
    """The parts of a conjunction, flattened."""
    if e == TRUE:
        return []
    if isinstance(e, Call) and e.fn == "and":
        return [c for a in e.args for c in conjuncts(a)]
    return [e]


def same(a: Scalar, b: Scalar) -> Scalar:
    """a IS NOT DISTINCT FROM b."""
    return Call("same", (a, b), types.BOOL)


def equal(a: Scalar, b: Scalar) -> Scalar:
    return Call("=", (a, b), types.BOOL)


def is_null(e: Scalar) -> Scalar:
    return Call("is_null", (e,), types.BOOL)


def negate(e: Scalar) -> Scalar:
    return Call("not", (e,), types.BOOL)


def case(whens: Sequence[tuple[Scalar, Scalar]], default: Scalar, t: Type) -> Scalar:
    """CASE WHEN … THEN … ELSE default END; args are condition, value, …, default."""
    return Call("case", (*[x for w in whens for x in w], default), t)


def walk(e: Scalar) -> Iterator[Scalar]:
    yield e
    for c in e.children:
        yield from walk(c)


def columns(*exprs: Scalar) -> set[str]:
    """Names of the columns that the expressions read."""
    return {n.name for e in exprs for n in walk(e) if isinstance(n, Col)}


def transform(e: Scalar, f: Callable[[Scalar], Scalar | None]) -> Scalar:
    """Replace top-down: where `f` gives a scalar it stands, elsewhere its children are transformed."""
    if (got := f(e)) is not None:
        return got
    kids = e.children
    if not kids:
        return e
    new = tuple(transform(c, f) for c in kids)
    return e if all(a is b for a, b in zip(new, kids, strict=True)) else e.rebuild(new)


def substitute(e: Scalar, mapping: dict[str, Scalar]) -> Scalar:
    """Replace columns by expressions."""
    return transform(e, lambda n: mapping.get(n.name) if isinstance(n, Col) else None)
