"""Shapes that rules of functions have in common. A rule takes bound arguments and gives the canonical call."""

from __future__ import annotations

from collections.abc import Callable

from compiler.bind.coerce import coerce, unify, unsupported
from compiler.bind.operators import label, ordinal
from compiler.errors import UnsupportedSql
from compiler.functions.signatures import ANY, ARRAYS, resolved
from compiler.ir.scalar import Call, Scalar
from compiler.ir.types import FLOAT8, INT4, TEXT, Type, innermost

POLYMORPHIC = ANY | ARRAYS
Rule = Callable[[list[Scalar]], Scalar]


def fixed(fn: str, result: Type, *params: Type) -> Rule:
    """Untyped arguments take the types of the parameters; the last one's stands for all further ones."""

    def rule(args: list[Scalar]) -> Scalar:
        return Call(fn, tuple(coerce(a, params[min(i, len(params) - 1)]) for i, a in enumerate(args)), result)

    return rule


def plain(name: str, args: list[Scalar]) -> Scalar:
    """As the catalog's row says: untyped arguments take its types, and the result has its type."""
    s = resolved(name, [a.type for a in args])
    if s is None:
        raise unsupported(name)
    wanted = [TEXT if t in POLYMORPHIC else Type(t) for t in s.arguments]
    return Call(name, tuple(coerce(a, t) for a, t in zip(args, wanted, strict=False)), Type(s.result))


def text(fn: str, *params: Type) -> Rule:
    return fixed(fn, TEXT, *(params or (TEXT,)))


def same_number(fn: str) -> Rule:
    """The result has the type of the first argument."""

    def rule(args: list[Scalar]) -> Scalar:
        a = coerce(args[0], FLOAT8)
        return Call(fn, (a, *args[1:]), a.type)

    return rule


def variadic(fn: str) -> Rule:
    """COALESCE, GREATEST and LEAST: one type for all."""

    def rule(args: list[Scalar]) -> Scalar:
        if fn != "coalesce" and any(a.type.name == "jsonb" for a in args):
            raise UnsupportedSql(f"{fn} of jsonb is not supported", code="unsupported_function")
        got, t = unify(args, fn.upper())
        if fn != "coalesce" and t.name == "array" and innermost(t).name in ("enum", "interval", "jsonb"):
            raise UnsupportedSql(f"{fn} of {t} is not supported", code="unsupported_function")
        if fn != "coalesce" and t.name == "enum" and len(got) > 1:
            return label(Call(fn, tuple(ordinal(a) for a in got), INT4), t)
        return got[0] if len(got) == 1 else Call(fn, tuple(got), t)

    return rule
