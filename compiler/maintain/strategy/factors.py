"""An aggregate over a join as a product of shares: what each part of the join adds to it by itself.

Σ_{r ⋈ s} f(r) · g(s) = Σ f · Σ g where r and s are apart: a sum of a product is a product of sums, a count is a
product of counts, and a FILTER falls to the part that it reads. What reads several parts at once has no shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from compiler.ir import types
from compiler.ir.relation import Agg
from compiler.ir.scalar import Call, Lit, Scalar, case, columns, conj, conjuncts, is_null, negate
from compiler.ir.types import INT8, Type

CERTAIN = frozenset(
    ("=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "is_null", "is_true", "is_false", "same")
    + ("case", "coalesce", "greatest", "least", "+", "-", "*", "neg")
)  # functions that give a value, or NULL, for every row
STRICT = frozenset(("+", "-", "*", "neg", "cast"))  # NULL exactly where an argument is
EXACT = frozenset(
    ("int2", "int4", "int8", "bool", "date", "time", "timestamp", "timestamptz", "uuid")
    + ("text", "varchar", "bpchar", "enum")
)


@dataclass(frozen=True)
class Share:
    """What one part adds: `factor` (1 where it is None) of each row for which `keep` is true."""

    factor: Scalar | None = None
    keep: tuple[Scalar, ...] = ()

    @property
    def value(self) -> Scalar | None:
        """Of one row, as a number; None where it is 1."""
        if self.factor is None:
            one: Scalar = Lit(1, INT8)
            return case([(conj(self.keep), one)], _zero(INT8), INT8) if self.keep else None
        there = Call("coalesce", (self.factor, _zero(self.factor.type)), self.factor.type)
        keep = [c for c in self.keep if c not in _there(negate(is_null(self.factor)))]
        return case([(conj(keep), there)], _zero(there.type), there.type) if keep else there

    @property
    def total(self) -> Agg:
        """Over the rows of a group."""
        keep = conj(self.keep) if self.keep else None
        if self.factor is None:
            return Agg("count", (), INT8, keep)
        return Agg("sum0", (self.factor,), types.numeric(38, types.digits(self.factor.type)[1]), keep)


def shares(a: Agg, parts: Sequence[set[str]]) -> list[Share] | None:
    """The share of each part in a count or sum; None where it has none. A part is its columns; the first takes what
    reads none, and what could fail for a row that the others would have removed."""
    keep: list[list[Scalar]] = [[] for _ in parts]
    for c in _conditions(a):
        if (i := _part(c, parts)) is None:
            return None
        keep[i].append(c)
    factors: list[list[Scalar]] = [[] for _ in parts]
    if a.fn == "sum0" and not _split(a.args[0], parts, factors):
        return None
    return [Share(product(f) if f else None, tuple(k)) for f, k in zip(factors, keep, strict=True)]


def _conditions(a: Agg) -> list[Scalar]:
    """What a row has to meet to count; that a product is there is that its factors are."""
    return [p for c in (conjuncts(a.filter) if a.filter is not None else []) for p in _there(c)]


def _there(c: Scalar) -> list[Scalar]:
    inner = c.args[0] if isinstance(c, Call) and c.fn == "not" else None
    value = inner.args[0] if isinstance(inner, Call) and inner.fn == "is_null" else None
    if isinstance(value, Call) and value.fn in STRICT and certain(value):
        return [p for x in value.args if columns(x) for p in _there(negate(is_null(x)))]
    return [c]


def whole(a: Agg, parts: int) -> list[Share]:
    """All of an aggregate as the share of the first part."""
    keep = tuple(conjuncts(a.filter)) if a.filter is not None else ()
    return [Share(a.args[0] if a.fn == "sum0" else None, keep), *[Share()] * (parts - 1)]


def product(factors: Sequence[Scalar]) -> Scalar:
    """Exact numbers multiplied without loss."""
    return reduce(_times, factors)


def certain(e: Scalar) -> bool:
    """Whether it has a value for every row, so that it may be computed for rows that a join would have removed."""
    if isinstance(e, Call):
        exact = e.fn in CERTAIN or (e.fn == "cast" and _widens(e.args[0].type, e.type))
        return exact and all(map(certain, e.args))
    return True


def groupable(t: Type) -> bool:
    """Whether equal values of the type are written alike, so that one stands for all in a group."""
    return t.name in EXACT or (types.is_numeric(t) and t.precision is not None and not types.is_varying(t))


def _times(a: Scalar, b: Scalar) -> Scalar:
    if a.type == b.type == INT8:
        return Call("*", (a, b), INT8)
    return Call("*", (a, b), types.numeric(38, types.digits(a.type)[1] + types.digits(b.type)[1]))


def _zero(t: Type) -> Scalar:
    return Lit("0", t) if types.is_numeric(t) else Lit(0, t)


def _part(e: Scalar, parts: Sequence[set[str]]) -> int | None:
    used = columns(e)
    found = next((i for i, names in enumerate(parts) if used <= names), None)
    return found if found == 0 or found is not None and certain(e) else None


def _split(e: Scalar, parts: Sequence[set[str]], factors: list[list[Scalar]]) -> bool:
    """Whether the factors of a product have a part each."""
    if (i := _part(e, parts)) is not None and types.is_exact(e.type):
        factors[i].append(e)
        return True
    if isinstance(e, Call) and e.fn == "*" and all(types.is_exact(x.type) for x in e.args):
        scale = sum(types.digits(x.type)[1] for x in e.args)
        return scale == types.digits(e.type)[1] and all(_split(x, parts, factors) for x in e.args)
    if isinstance(e, Call) and e.fn == "cast" and types.is_exact(e.type) and _widens(e.args[0].type, e.type):
        same_scale = types.digits(e.args[0].type)[1] == types.digits(e.type)[1]
        return same_scale and _split(e.args[0], parts, factors)
    return False


def _widens(a: Type, b: Type) -> bool:
    """Whether every value of one type has its equal in the other."""
    if types.is_integer(a) and types.is_integer(b):
        return types.WIDTHS[a.name] <= types.WIDTHS[b.name]
    if types.is_exact(a) and types.is_numeric(b) and types.has_fixed_scale(a) and b.precision is not None:
        (p, s), (q, r) = types.digits(a), types.digits(b)
        return s <= r and p - s <= q - r
    return a.name in ("text", "varchar") and b.name == "text"
