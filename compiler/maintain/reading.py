"""Which columns of which tables a state is made of: a batch that changes no other does not change it."""

from __future__ import annotations

from compiler.ir.relation import Scan
from compiler.maintain.kept import Kept
from compiler.simplify.prune import leaves_read


def columns_read(s: Kept) -> dict[str, set[str]]:
    """Of each table, by its schema-qualified name, the columns that the state's definition reads."""
    out: dict[str, set[str]] = {}
    for leaf, columns in leaves_read(s.definition).items():
        if isinstance(leaf, Scan):
            out.setdefault(leaf.table, set()).update(columns)
    return out
