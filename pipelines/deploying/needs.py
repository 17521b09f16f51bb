"""Which tables a deploy copies, where there is a deployment: new ones, and those that are kept otherwise than views
read them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from compiler.catalog import Catalog
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from pipelines.deploying.building import catalog_tables, columns, needed, shape
from pipelines.deploying.by_key import Tables, other, tables_by_key
from pipelines.deployment import Deployment
from pipelines.project import Compiled, over
from pipelines.refused import lacking, qualified, reads, to_keep


@dataclass(frozen=True)
class Needs:
    """All by engine. `wanted`: the tables that are mirrored from then on, `by_key` those of them that are for some keys
    alone; `new`: those that are copied, `empty`: those of which no key is there at first; `narrow`: the columns that
    these have. `copied`: the tables that are made anew though they were kept."""

    wanted: dict[str, list[str]]
    new: dict[str, list[str]]
    narrow: dict[str, dict[str, list[str]]]
    copied: frozenset[str]
    by_key: Tables
    empty: dict[str, list[str]]

    @property
    def tables(self) -> set[str]:
        """Those that are copied."""
        return {t for ts in self.new.values() for t in ts}

    @property
    def made(self) -> set[str]:
        return self.tables | {t for ts in self.empty.values() for t in ts}


def needs(
    old: Deployment,
    views: list[Compiled],
    catalog: Catalog,
    again: AbstractSet[str] = frozenset(),
    left: Mapping[str, AbstractSet[str]] | None = None,
    former: Mapping[str, list[ViewPlan]] | None = None,
) -> Needs:
    """For these views, and those of `left`, which stay set aside with the tables that they read. The tables `again` are
    copied in any case. What is copied has the columns for the plans `former`, too: where the deploy fails, they are
    maintained on."""
    wanted, left = needed(views), left or {}
    for v in (v for v in old.views if v.name in left):
        wanted[v.engine] = sorted({*wanted.get(v.engine, []), *(left[v.name] & {*old.tables.get(v.engine, [])})})
    copied = again | _reshaped(old, views, catalog) | _lacking(old, views)
    by_key = tables_by_key(views, catalog, old, left)
    empty = _empty(old, by_key, copied)
    whole = {t for e, of in old.by_key.items() for t in of if t not in by_key.get(e, {})}
    copied |= whole | {t for ts in empty.values() for t in ts}
    copied |= _elsewhere(old, wanted, catalog, copied)
    new = {
        e: [t for t in ts if t not in by_key.get(e, {}) and (t not in old.tables.get(e, []) or t in copied)]
        for e, ts in wanted.items()
    }
    new = {e: ts for e, ts in new.items() if ts}
    made = {e: [*new.get(e, []), *empty.get(e, [])] for e in {**new, **empty}}
    narrow = columns(views, made, catalog)
    for e, tables in narrow.items():
        for t in catalog_tables({*tables} & {*old.tables.get(e, [])}, catalog):
            tables[qualified(t)] = to_keep(t, [*_plans(views, e), *(former or {}).get(e, [])])
    if left:
        _with_former(narrow, old, catalog)
    return Needs(wanted, new, narrow, frozenset(copied), by_key, empty)


def _elsewhere(
    old: Deployment, wanted: Mapping[str, list[str]], catalog: Catalog, copied: AbstractSet[str]
) -> set[str]:
    """The tables that are made for one engine, and are on another with a column that has no such name any more: there
    is one form of a table for all engines."""
    names = {qualified(t): {c.name for c in t.columns} for t in catalog.tables.values()}
    made = {t for e, ts in wanted.items() for t in ts if t in copied or t not in old.tables.get(e, [])}
    return {
        t
        for t in made & {*names}
        for e, of in old.columns.items()
        if t in old.tables.get(e, []) and {*of.get(t, [])} - names[t]
    }


def _empty(old: Deployment, by_key: Tables, copied: AbstractSet[str]) -> dict[str, list[str]]:
    """The mirrors of some keys' rows that are made anew: with those of a table all of the same keys."""
    known = replace(old, tables={e: [t for t in ts if t not in copied] for e, ts in old.tables.items()})
    return {e: sorted(of) for e, of in other(known, by_key).items()}


def _plans(views: list[Compiled], engine: str) -> list[ViewPlan]:
    return [v.plan for v in views if v.engine == engine and v.plan is not None]


def _reshaped(old: Deployment, views: list[Compiled], catalog: Catalog) -> set[str]:
    """The tables that have other columns than when they were copied, where a view reads others for it."""
    copied = {(t.schema, t.name): t for t in old.catalog}
    other = {
        qualified(t)
        for k, t in catalog.tables.items()
        if k in copied and [c.name for c in t.columns] != [c.name for c in copied[k].columns]
    }
    before = replace(catalog, tables={**catalog.tables, **copied})
    queries = {v.name: v.text.query for v in views if v.text is not None}
    out: set[str] = set()
    for v in views:
        if v.plan is None or not v.plan.tables & other:
            continue
        try:
            was = over(v, before, queries, v.plan.strategy)
            same = shape(was) == shape(v.plan)
        except TidemarkError:
            same = False
        if not same:
            out |= v.plan.tables & other
    return out


def _lacking(old: Deployment, views: list[Compiled]) -> set[str]:
    """The tables of which a view reads a column that its engine does not keep."""
    out: set[str] = set()
    for v in views:
        if v.plan is not None:
            out.update(lacking(old, v.engine, v.plan))
            for table, columns in old.refused.get(v.engine, {}).items():
                if any(reads(v.plan, table, c) for c in columns):
                    out.add(table)
    return out


def _with_former(narrow: dict[str, dict[str, list[str]]], old: Deployment, catalog: Catalog) -> None:
    """What mirrors have had, views may read that are left aside."""
    for e, tables in narrow.items():
        for t in catalog_tables({*tables} & {*old.tables.get(e, [])}, catalog):
            before = {c.name for c in old.mirrored(e, qualified(t)).columns}
            tables[qualified(t)] = [c.name for c in t.columns if c.name in before | {*tables[qualified(t)]}]
