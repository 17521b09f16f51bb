"""A view from its text to its plan."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from compiler import opaque
from compiler.bind import multiranges, range_parts
from compiler.bind.query import Binder
from compiler.bind.scope import Bound
from compiler.catalog import Catalog
from compiler.differences import TIES, differences
from compiler.errors import InvalidSql
from compiler.ir.verify import passed
from compiler.maintain.choose import AUTO, choose, shared_values
from compiler.maintain.lag import Lag
from compiler.maintain.offer import Wanted
from compiler.maintain.plan import ViewPlan
from compiler.normalize import normalize
from compiler.normalize.ties import hanging, settle_ties

MOST = 20  # errors of a view that are told


def compile_view(
    name: str,
    query: exp.Expr,
    catalog: Catalog,
    views: Mapping[str, exp.Expr] | None = None,
    strategy: str = AUTO,
    key: tuple[str, ...] = (),
    lag: Lag | None = None,
    mirrors: bool = True,
) -> ViewPlan:
    """The states and the readable top of a view, by a strategy, and where that is partial, by a key, whose rows are
    read from `mirrors` or from the source, or paced, with its lag; raises InvalidSql or UnsupportedSql."""
    others = {n: q for n, q in (views or {}).items() if n != name}
    bound = _bind(name, query, catalog, others)
    rel = range_parts.shown(multiranges.shown(bound.rel))
    opaque.check(rel)
    rel = normalize(rel)
    tied = hanging(rel)
    plan = choose(Wanted(name, passed(rel, settle_ties), tuple(bound.outputs), key, lag, mirrors), strategy)
    plan.warnings = [*differences(bound.rel), *([TIES.format(", ".join(tied))] if tied else [])]
    plan.hangs_on_ties = bool(tied)
    plan.notes += shared_values(rel)
    return plan


def _bind(name: str, query: exp.Expr, catalog: Catalog, others: Mapping[str, exp.Expr]) -> Bound:
    """The query bound; of literals that cannot be read all are told: each is bound again as NULL, to find the next."""
    try:
        return Binder(catalog, others, (name,)).view(query)
    except InvalidSql as first:
        last, rest = first, query
        while not last.view and len(first.others) < MOST and (without := _without_literal(rest, last.at)) is not None:
            rest = without
            try:
                Binder(catalog, others, (name,)).view(rest)
                break
            except InvalidSql as e:
                last = e
                first.others.append(e)
            except Exception:  # of a NULL where none can be
                break
        raise


def _without_literal(query: exp.Expr, at: int | None) -> exp.Expr | None:
    """The query with NULL in place of the string that begins at `at`; None where none does."""
    rest = query.copy()
    found = next((x for x in rest.find_all(exp.Literal) if x.is_string and x.meta.get("start") == at), None)
    if at is None or found is None:
        return None
    (found.parent if isinstance(found.parent, exp.Interval) else found).replace(exp.Null())
    return rest
