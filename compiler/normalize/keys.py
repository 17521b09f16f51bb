"""Columns by which the rows of a relation are told apart, and whether an order leaves none of them equal."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.ir import types
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    LeftJoin,
    Net,
    Order,
    Project,
    Relation,
    Scan,
    Semi,
    TopK,
    Unnest,
    Values,
    Weigh,
    Window,
)
from compiler.ir.scalar import Call, Col, Lit, Scalar, columns
from compiler.normalize.subqueries.unique import unique

ONE_TO_ONE = ("enum_ordinal", "neg", "uuid")


def key_of(r: Relation) -> tuple[Col, ...] | None:
    """Columns of the relation of which no two rows have the same values; None where none are known."""
    match r:
        case Scan():
            return tuple(r.col(k) for k in r.key) or None
        case Filter() | Weigh() | Net() | Window() | TopK():
            return key_of(r.input)
        case Semi():
            return key_of(r.left)
        case Project():
            return _projected(r)
        case Join() | LeftJoin():
            return _joined(r)
        case Aggregate():
            return tuple(Col(k, e.type) for k, e in r.keys)
        case Unnest():
            inner = key_of(r.input)
            return (*inner, r.col(r.ordinality)) if inner is not None and r.ordinality else None
        case Fixpoint():
            return r.schema if r.distinct else None
        case Values():
            return () if len(r.rows) <= 1 else None
    return None


def _projected(r: Project) -> tuple[Col, ...] | None:
    inner = key_of(r.input)
    names = {e: n for n, e in reversed(r.exprs)}
    if inner is None or not all(c in names for c in inner):
        return None
    return tuple(Col(names[c], c.type) for c in inner)


def _joined(r: Join | LeftJoin) -> tuple[Col, ...] | None:
    left, right = key_of(r.left), key_of(r.right)
    for one in (left, right):
        if one is not None and unique(r, {c.name for c in one}):
            return one
    return (*left, *right) if left is not None and right is not None else None


def total(r: Relation, partition: Iterable[Scalar], order: Iterable[Order]) -> bool:
    """Whether no two rows of one partition are equal in the order, as far as keys tell."""
    return unique(r, {c.name for c in _determined(partition, order) if isinstance(c, Col)})


def settles(partition: Iterable[Scalar], order: Iterable[Order], args: Iterable[Scalar]) -> bool:
    """Whether rows that are equal in the order have the same values of `args`."""
    determined = _determined(partition, order)
    names = {c.name for c in determined if isinstance(c, Col)}
    return all(x in determined or isinstance(x, Lit) or columns(x) <= names for x in args)


def _determined(partition: Iterable[Scalar], order: Iterable[Order]) -> set[Scalar]:
    """The expressions that are the same where an order finds rows equal: not of types with equal values of several
    forms."""
    determined = [
        e
        for e in (*partition, *(o.expr for o in order))
        if not types.is_float(e.type) and e.type.name not in ("interval", "bpchar", "blanks")
    ]
    return {x for e in determined for x in (e, _inner(e))}


def _inner(e: Scalar) -> Scalar:
    """What a one-to-one function is of."""
    while isinstance(e, Call) and (e.fn in ONE_TO_ONE or e.fn == "cast" and _kept(e.args[0].type, e.type)):
        e = e.args[0]
    return e


def _kept(a: types.Type, b: types.Type) -> bool:
    """Whether a cast keeps different values different."""
    return (
        types.is_integer(a)
        and (types.is_integer(b) or b.name == "text")
        or a.name in ("uuid", "date", "text", "varchar")
        and b.name == "text"
    )
