"""Invariants of a relation that its constructors cannot see."""

from __future__ import annotations

from compiler.errors import CompilerBug
from compiler.ir.parts import scalars
from compiler.ir.relation import Apply, Relation, walk
from compiler.ir.scalar import Outer
from compiler.ir.scalar import walk as walk_scalar
from compiler.ir.subquery import Sub


def verify(r: Relation) -> Relation:
    """The relation itself; raises CompilerBug where columns are repeated, or what belongs to the query around it is left."""
    for n in walk(r):
        left = [s for e in scalars(n) for s in walk_scalar(e) if isinstance(s, Outer | Sub)]
        if left or isinstance(n, Apply):
            raise CompilerBug(f"{type(n).__name__} is left with {left[0] if left else 'a lateral side'} after subqueries were unnested")
        if len(set(n.names)) != len(n.names):
            raise CompilerBug(f"{type(n).__name__} repeats a column: {list(n.names)}")
    return r
