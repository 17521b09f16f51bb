"""The readable top of a view: what is left above the last state and evaluated when the view is read.

Projections and filters cost a reader nothing; a window or LIMIT over all rows can be moved by any change, and
reading is the only time that all rows are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compiler.ir.parts import of_a_round
from compiler.ir.relation import Filter, Project, Relation, Scan, TopK, Window, walk
from compiler.simplify.prune import prune
from compiler.temporal import split_filters, timed

Settle = Callable[[Relation], Relation]
READS_TIME = "it reads the time: what depends on it is finished when the view is read, over rows that are maintained"


def readable(r: Relation) -> bool:
    """Whether an operator at the top is left to the reader."""
    return isinstance(r, Project | Filter) or (isinstance(r, TopK | Window) and not r.partition)


def peel(r: Relation) -> tuple[list[Relation], Relation]:
    """(operators at the top that are left to the reader, from the outermost; what is below them)"""
    ops: list[Relation] = []
    while readable(r):
        ops.append(r)
        r = r.inputs[0]
    return ops, r


def settle(body: Relation) -> tuple[Relation, list[Relation]]:
    """Without a state at the bottom: (the rows to keep, the operators above), cut below the last window or limit
    that is readable."""
    ops: list[Relation] = []
    last, chain, r = 0, [body], body
    while readable(r):
        ops.append(r)
        r = r.inputs[0]
        chain.append(r)
        if isinstance(ops[-1], TopK | Window):
            last = len(ops)
    return chain[last], ops[:last]


def under(ops: Iterable[Relation], r: Relation) -> Relation:
    """`r` with operators on top of it, given from the outermost."""
    for op in reversed(list(ops)):
        r = op.rebuild((r,))
    return r


def over_rows(body: Relation, keep: Callable[[Relation], Relation]) -> Relation:
    """`body` with the rows below its readable top replaced by what `keep` makes of them."""
    rows, ops = settle(body)
    return under(ops, keep(rows))


def cut_where_timed(q: Relation, settled: Settle) -> tuple[Relation, list[str]]:
    """The top of a view, and notes: all of it settled, or, of one that reads the time, the parts that do not."""
    if not timed(q):
        return settled(q), []
    q = prune(q)
    q = split_filters(q, timed(q))
    moving = timed(q)

    def cut(n: Relation) -> Relation:
        if n in moving or of_a_round(n):
            return n.rebuild(tuple(cut(i) for i in n.inputs)) if n.inputs else n
        return settled(n) if any(isinstance(x, Scan) for x in walk(n)) else n

    return cut(q), [READS_TIME]
