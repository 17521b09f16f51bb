"""The little sides of joins: what a batch bounds, what has keys at hand, and which keys find rows exactly."""

from __future__ import annotations

from compiler.ir import types
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Fixpoint,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    State,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
    walk,
)
from compiler.ir.scalar import Col, Scalar, columns, substitute
from compiler.ir.types import Type

EXACT = frozenset(("date", "timestamp", "timestamptz", "uuid", "bool"))  # types whose equal values are written alike
WHOLE = frozenset(("int2", "int4", "int8"))
LETTERS = frozenset(("text", "varchar"))


def filtered(r: Relation) -> bool:
    """Whether a condition cuts it."""
    return any(isinstance(n, Filter) for n in walk(r))


def at_hand(r: Relation) -> bool:
    """Whether it is the batch, or what is stored, or a sum of such."""
    if isinstance(r, Project | Filter | Weigh | Union | Net):
        return all(map(at_hand, r.inputs))
    return isinstance(r, Temp | Values) or (isinstance(r, Scan) and r.at == "delta")


def findable(a: Type, b: Type) -> bool:
    """Whether a value of one type equals one of the other exactly where it is that value, in the other's type."""
    return any(a.name in kinds and b.name in kinds for kinds in (WHOLE, LETTERS)) or (a == b and _exact(a))


def _exact(t: Type) -> bool:
    return t.name in EXACT or (types.is_numeric(t) and t.precision is not None)


def driving(r: Relation) -> bool:
    """Whether a batch bounds the number of rows: there are no more than it has, times what each meets."""
    match r:
        case Scan():
            return r.at == "delta"
        case Temp() | Values():
            return True
        case Project() | Filter() | Weigh() | Net() | Keys() | Unnest() | Window() | TopK() | Aggregate():
            return driving(r.input)
        case Union():
            return all(map(driving, r.parts))
        case Join():
            return driving(r.left) or driving(r.right)
        case LeftJoin():
            return driving(r.left)
        case Semi():
            return driving(r.left) or (not r.anti and driving(r.right))
        case Fixpoint():
            return driving(r.base) and driving(r.step)
        case _:
            return False


def nearest(r: Relation, exprs: list[Scalar]) -> tuple[Relation, list[Scalar]]:
    """The smallest part of r that has what the expressions read: their values there are all that r has, or more. What
    is computed is not computed for rows that r has not: it could fail for them."""
    used = columns(*exprs)
    if not all(isinstance(e, Col) for e in exprs):
        return r, exprs
    if isinstance(r, Project) and all(isinstance(e, Col) for n, e in r.exprs if n in used):
        computed = dict(r.exprs)
        return nearest(r.input, [substitute(e, computed) for e in exprs])
    if isinstance(r, Join):
        for side in (r.left, r.right):
            if used <= set(side.names) and driving(side):
                return nearest(side, exprs)
    if isinstance(r, LeftJoin | Semi) and used <= set(r.left.names) and driving(r.left):
        return nearest(r.left, exprs)
    return r, exprs


def weighted(r: Relation) -> bool:
    """Whether rows may have another weight than 1."""
    match r:
        case Aggregate() | Keys() | Values():
            return False
        case Scan():
            return r.at != "after" or not r.key
        case Temp():
            return r.signed
        case State():
            return r.weighted or r.at == "delta"
        case Project() | Filter() | Window() | Unnest():
            return weighted(r.input)
        case Join() | LeftJoin():
            return weighted(r.left) or weighted(r.right)
        case Semi():
            return weighted(r.left)
        case _:
            return True
