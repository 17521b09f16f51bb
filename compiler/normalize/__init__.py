"""SQL's surface to the kernel: each step removes one kind of node, and is verified."""

from __future__ import annotations

from compiler.ir.relation import Relation
from compiler.ir.verify import verify
from compiler.normalize.distinct import distinct_aggregates
from compiler.normalize.lazy import bound_recursions
from compiler.normalize.subqueries import unnest
from compiler.simplify.filters import push_filters
from compiler.simplify.products import connect_joins
from compiler.simplify.projects import fuse_projects
from compiler.temporal import after_ranking

NORMALIZE = (unnest, distinct_aggregates, fuse_projects, push_filters, connect_joins,
             fuse_projects, after_ranking, bound_recursions)


def normalize(r: Relation) -> Relation:
    """A bound relation in the kernel: no subqueries, no LATERAL, no DISTINCT within aggregates that need none."""
    for step in NORMALIZE:
        r = verify(step(r))
    return r
