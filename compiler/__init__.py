"""SQL to the SQL that maintains it: parse → bind → normalize → plan → differentiate → maintenance."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from compiler import opaque
from compiler.bind.query import Binder
from compiler.catalog import Catalog
from compiler.differences import TIES, differences
from compiler.normalize import normalize
from compiler.normalize.ties import hanging, settle_ties
from compiler.reasons import shared_values
from compiler.state import ViewPlan, plan


def compile_view(name: str, query: exp.Expr, catalog: Catalog,
                 views: Mapping[str, exp.Expr] | None = None) -> ViewPlan:
    """The states and the readable top of a view; raises InvalidSql or UnsupportedSql."""
    others = {n: q for n, q in (views or {}).items() if n != name}
    bound = Binder(catalog, others, (name,)).view(query)
    opaque.check(bound.rel)
    rel = normalize(bound.rel)
    tied = hanging(rel)
    planned = plan(name, settle_ties(rel), bound.outputs, [*differences(bound.rel), *([TIES.format(", ".join(tied))] if tied else [])])
    planned.hangs_on_ties = bool(tied)
    planned.notes += shared_values(rel)
    return planned
