"""Fetches of what is Dist: in how many rounds a view's batch makes them, and how they are kept few.

A round is a Spark job on a cluster, and has to wait for the one before. Where one after the other would be more than
`MOST`, the view has auxiliary states (higher order), which are read in the place of tables; or some of the tables are
Local all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from compiler.catalog import Catalog, mirror_name
from compiler.errors import TidemarkError
from compiler.maintain.choose import AUTO, Maintenance, maintenance_of
from compiler.maintain.differentiate import program
from compiler.maintain.fetch import fetched
from compiler.maintain.strategy import first_order, higher_order
from connectors.duckdb.elsewhere import rounds
from dialects import maintain
from pipelines.engines import dialect
from pipelines.kinds import LOCAL
from pipelines.project import Compiled, judge, over

MOST = 2  # rounds of a batch: what hangs on the batch alone, and what hangs on that


def rounds_of(v: Compiled, dist: Collection[str]) -> int:
    """Rounds of a batch that updates all tables of a view, of which these (schema-qualified) are Dist, beside the one
    for the old rows of these."""
    assert v.plan is not None
    mirrors = frozenset(mirror_name(t) for t in dist if t in v.plan.tables)
    if not mirrors:
        return 0
    p = fetched(program([v.plan], v.plan.tables), lambda table: mirror_name(table) in mirrors)
    together = rounds(maintain.statements(dialect(v.engine, LOCAL), p), mirrors)
    return sum(some[0].fetch is not None and some[0].fetch.mirror in mirrors for some in together)


def fetches(v: Compiled) -> int | None:
    """How often such a batch reads what is Dist, where its states are Local: for the old rows of all tables, and for
    each round; on a cluster each is a Spark job. None where that is not known."""
    if v.location != LOCAL or v.plan is None:
        return None
    return bool(v.dist) + rounds_of(v, v.dist)


def by_states(v: Compiled, dist: Collection[str], catalog: Catalog, views: Iterable[Compiled], default: str) -> None:
    """Give a view auxiliary states, where it leaves its strategy open, and they make rounds fewer of a batch that has
    too many. `views`: all of the project, which it may read; `default`: the strategy of those that do not say."""
    if v.text is None or v.plan is None or v.plan.lag is not None or v.plan.strategy != first_order.NAME:
        return
    if v.text.options.get("strategy", default) != AUTO or (before := rounds_of(v, dist)) <= MOST:
        return
    queries: Mapping[str, exp.Expr] = {x.name: x.text.query for x in views if x.text is not None}
    try:
        other = replace(v, plan=over(v, catalog, queries, higher_order.NAME))
        after = rounds_of(other, dist)
    except TidemarkError:  # it knows no states for such a view
        return
    assert other.plan is not None
    if after >= before or maintenance_of(other.plan) is Maintenance.RECOMPUTE:
        return
    v.plan, v.strategy = other.plan, other.plan.strategy
    judge(v)
    v.notes.append(
        f"strategy {v.strategy}: rounds in which a batch fetches what is Dist: {after}; without its states: {before}"
    )


def few_rounds(
    views: list[Compiled],
    dist: Collection[str],
    sizes: Mapping[str, int],
    room: int,
    catalog: Catalog,
    project: Iterable[Compiled],
    default: str,
) -> list[str]:
    """The tables of `dist` without those that are Local all the same, and the views' strategies for these. `sizes`: of
    those that may be; `room`: bytes that they may have together."""
    trial = [replace(v, notes=[]) for v in views]
    for v in trial:
        by_states(v, dist, catalog, project, default)
    nearer = local_all_the_same(trial, dist, sizes, room)
    left = sorted(t for t in dist if t not in nearer)
    for v in views:
        by_states(v, left, catalog, project, default)
        assert v.plan is not None
        if some := sorted(v.plan.tables & nearer):
            v.notes.append(f"Local all the same: the mirrors of {', '.join(some)}; a batch would have too many rounds")
    return left


def local_all_the_same(views: list[Compiled], dist: Collection[str], sizes: Mapping[str, int], room: int) -> set[str]:
    """Of tables that are too large to be Local, those that are, since a batch of one of the views would have too many
    rounds else: the smallest of those with a size, of no more than `room` bytes together."""
    out: set[str] = set()
    for v in views:
        assert v.plan is not None
        left = {t for t in dist if t in v.plan.tables and t not in out}
        if room <= 0 or rounds_of(v, left) <= MOST:
            continue
        size, some = 0, set[str]()
        for t in sorted(left & sizes.keys(), key=lambda t: (sizes[t], t)):
            size += sizes[t]
            some.add(t)
            if size > room:
                break
            if rounds_of(v, left - some) <= MOST:
                out |= some
                room -= size
                break
    return out
