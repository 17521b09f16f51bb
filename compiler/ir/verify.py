"""Invariants of a relation that its constructors cannot see."""

from __future__ import annotations

from compiler.errors import CompilerBug
from compiler.ir.relation import Relation, walk


def verify(r: Relation) -> Relation:
    """The relation itself; raises CompilerBug where columns are missing or repeated."""
    for n in walk(r):
        if len(set(n.names)) != len(n.names):
            raise CompilerBug(f"{type(n).__name__} repeats a column: {list(n.names)}")
    return r
