"""What is known of a node of the algebra from its shape: the facts by which strategies decide what to keep."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.delta.rules import kind_of
from compiler.functions.aggregates import ACCUMULATORS, ORDERED, STATISTICS, Algebra, algebra_of
from compiler.ir import types
from compiler.ir.relation import Aggregate, Relation, Scan, Window, WindowCall, walk
from compiler.ir.scalar import Col
from compiler.normalize.keys import key_of
from compiler.simplify.prune import columns_read


@dataclass(frozen=True)
class Facts:
    """Of one node; each fact is found out when it is asked for."""

    node: Relation

    @property
    def linearity(self) -> str:
        """How its Δ is made: linear, bilinear, keyed or whole; '' of what only is read."""
        return kind_of(self.node)

    @property
    def algebra(self) -> Algebra | None:
        """Of an aggregate, what all its functions have in common; None of other nodes, and where it has none."""
        if not isinstance(self.node, Aggregate) or not self.node.aggs:
            return None
        found = {algebra_of(a) for _, a in self.node.aggs}
        return next(x for x in (Algebra.HOLISTIC, Algebra.SEMILATTICE, Algebra.GROUP) if x in found)

    @property
    def accumulated(self) -> bool:
        """Whether it is an aggregate of accumulators alone, which a state can add to."""
        n = self.node
        return isinstance(n, Aggregate) and all(a.fn in ACCUMULATORS and not a.distinct for _, a in n.aggs)

    @property
    def key(self) -> tuple[Col, ...] | None:
        """Columns of which no two rows have the same values; None where none are known."""
        return key_of(self.node)

    @property
    def repeatable(self) -> bool:
        """Whether computing it twice over the same rows gives the same values. A window may not: sums of floating
        point depend on the order they are made in, lists are in that order, and rows are counted off among equals."""
        return not isinstance(self.node, Window) or not any(map(_by_order_of_rows, (c for _, c in self.node.calls)))

    @property
    def tables(self) -> frozenset[str]:
        """The source tables that it reads, schema-qualified."""
        return frozenset(n.table for n in walk(self.node) if isinstance(n, Scan))

    @property
    def columns_used(self) -> dict[str, set[str]]:
        """Of each of these, the columns that it reads: a batch that changes no other does not change it."""
        return columns_read(self.node)


def _by_order_of_rows(c: WindowCall) -> bool:
    if c.fn in ORDERED or c.fn in STATISTICS or _tied(c):
        return True
    return c.fn in ("sum", "avg") and any(types.is_float(a.type) for a in c.args)


def _tied(c: WindowCall) -> bool:
    """Whether rows are counted off among equals, for which the order has no say (what can be settled is, in
    `normalize/ties`)."""
    if c.frame is None:
        return False
    unit, (start, _), (end, _), exclude = c.frame
    whole = start.startswith("unbounded") and end.startswith("unbounded")
    return unit == "rows" and exclude in ("ties", "group") and not whole
