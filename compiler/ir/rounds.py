"""A column that a recursion's rows carry from round to round."""

from __future__ import annotations

from compiler.ir.relation import (
    Filter,
    Fixpoint,
    Join,
    LeftJoin,
    Project,
    Recur,
    Relation,
    Semi,
    TopK,
    Unnest,
    Weigh,
    Window,
    walk,
)
from compiler.ir.scalar import Col

ROUNDS = 100_000  # after which a recursion is taken for one that does not end


def carried(step: Relation, name: str, col: Col) -> Relation | None:
    """The step with the column `col` of the rows of the recursion `name`; None where an operator does not let it
    pass."""
    if isinstance(step, Recur):
        return Recur(step.name, (*step.cols, col)) if step.name == name else None
    if isinstance(step, Fixpoint):
        return None
    reading = [i for i in step.inputs if any(isinstance(n, Recur) and n.name == name for n in walk(i))]
    if len(reading) != 1 or not isinstance(
        step, Project | Filter | Weigh | Unnest | Window | TopK | Join | LeftJoin | Semi
    ):
        return None
    if isinstance(step, LeftJoin | Semi) and reading[0] is not step.left:
        return None
    inner = carried(reading[0], name, col)
    if inner is None:
        return None
    if isinstance(step, Project):
        return Project(inner, (*step.exprs, (col.name, col)))
    return step.rebuild(tuple(inner if i is reading[0] else i for i in step.inputs))
