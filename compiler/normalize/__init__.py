"""SQL's surface to the kernel: a pass after the other, each verified by what it removes."""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.ir.verify import NESTED, Pass, verify
from compiler.normalize.distinct import distinct_aggregates
from compiler.normalize.lazy import bound_recursions
from compiler.normalize.subqueries import unnest
from compiler.simplify.filters import push_filters
from compiler.simplify.products import connect_joins
from compiler.simplify.projects import fuse_projects
from compiler.temporal import after_ranking

NORMALIZE: tuple[tuple[Pass, tuple[type, ...]], ...] = (  # each with the kinds of nodes that are gone after it
    (unnest, NESTED),
    (distinct_aggregates, ()),
    (fuse_projects, ()),
    (push_filters, ()),
    (connect_joins, ()),
    (fuse_projects, ()),
    (after_ranking, ()),
    (bound_recursions, ()),
)


def normalize(r: Relation) -> Relation:
    """A bound relation in the kernel: no subqueries, no LATERAL, no DISTINCT within aggregates that need none."""
    gone: set[type] = set()
    for step, removed in NORMALIZE:
        gone.update(removed)
        r = verify(step(r), gone)
    return r
