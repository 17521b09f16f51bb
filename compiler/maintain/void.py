"""Which of a batch's results are empty because others are: what is seen when it runs, and saves the rest of the work.

Inserted parents meet no old children, and what is only inserted takes no extremum from its group: the fetch comes back
without rows, and nothing that joins it has any.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from compiler.catalog import mirror_name
from compiler.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Keys,
    LeftJoin,
    Net,
    Project,
    Relation,
    Scan,
    Semi,
    Temp,
    TopK,
    Union,
    Unnest,
    Values,
    Weigh,
    Window,
)

Void = frozenset[frozenset[str]]  # where all names of one of these sets are empty, so is the relation
NEVER: Void = frozenset()
ALWAYS: Void = frozenset([frozenset[str]()])
MOST = 16  # sets: more are not worth looking through


def void(r: Relation) -> Void:
    """What has to be empty for `r` to be: names of steps, and `delta.<mirror>` for the rows of a batch. It may be empty
    for other reasons."""
    match r:
        case Temp():
            return frozenset([frozenset([r.name])])
        case Scan():
            return frozenset([frozenset([f"delta.{mirror_name(r.table)}"])]) if r.at == "delta" else NEVER
        case Values():
            return NEVER if r.rows else ALWAYS
        case Project() | Filter() | Weigh() | Net() | Keys() | Unnest() | Window() | TopK():
            return void(r.input)
        case Aggregate():
            return void(r.input) if r.keys else NEVER  # of no rows there is one group of all
        case Join():
            return _least(void(r.left) | void(r.right))
        case LeftJoin():
            return void(r.left)
        case Semi():
            return void(r.left) if r.anti else _least(void(r.left) | void(r.right))
        case Union():
            return _all(map(void, r.parts))
        case _:
            return NEVER


def _all(parts: Iterable[Void]) -> Void:
    """What has to be empty for all of them."""
    out = ALWAYS
    for p in parts:
        out = _least(a | b for a, b in product(out, p))
    return out


def _least(sets: Iterable[frozenset[str]]) -> Void:
    """Without those that others are part of; the first few of them."""
    out: list[frozenset[str]] = []
    for s in sorted(sets, key=lambda s: (len(s), sorted(s))):
        if not any(t <= s for t in out):
            out.append(s)
    return frozenset(out[:MOST])
