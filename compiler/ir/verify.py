"""Invariants of a relation that its constructors cannot see."""

from __future__ import annotations

from collections.abc import Callable, Collection

from compiler.errors import CompilerBug
from compiler.ir.parts import scalars
from compiler.ir.relation import Apply, Relation, walk
from compiler.ir.scalar import Outer
from compiler.ir.scalar import walk as walk_scalar
from compiler.ir.subquery import Sub

Pass = Callable[[Relation], Relation]
NESTED = (Apply, Sub, Outer)  # what belongs to a query around it, and what holds such


def verify(r: Relation, gone: Collection[type] = NESTED) -> Relation:
    """The relation itself; raises CompilerBug where columns are repeated, or a kind of node or scalar is left that
    should be `gone`."""
    kinds = tuple(gone)
    for n in walk(r):
        for x in (n, *(s for e in scalars(n) for s in walk_scalar(e))):
            if isinstance(x, kinds):
                raise CompilerBug(f"{type(x).__name__} is left in {type(n).__name__} after the pass that removes it")
        if len(set(n.names)) != len(n.names):
            raise CompilerBug(f"{type(n).__name__} repeats a column: {list(n.names)}")
    return r


def passed(r: Relation, *passes: Pass) -> Relation:
    """What passes over the kernel make of a relation, each verified."""
    for step in passes:
        r = verify(step(r))
    return r
