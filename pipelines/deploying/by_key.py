"""Tables of which no copy is kept: the rows alone of the keys that a partial view was asked for (keep_mirrors = false).

That is so where the view is the only one of its engine that reads the table. Otherwise the table is mirrored whole, and
the view reads the rows of its keys from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from compiler.catalog import Catalog, Table, mirror_name
from compiler.maintain.little import findable
from connectors.engine import Engine
from pipelines.deploying.building import catalog_tables
from pipelines.deployment import ByKey, Deployment
from pipelines.project import Compiled
from pipelines.refused import ALL, qualified
from pipelines.warehouse import Warehouse

Tables = dict[str, dict[str, ByKey]]


def tables_by_key(
    views: Iterable[Compiled],
    catalog: Catalog,
    old: Deployment | None = None,
    left: Mapping[str, AbstractSet[str]] | None = None,
) -> Tables:
    """By engine. Views of `left` stay as they are in `old`."""
    readers: dict[tuple[str, str], set[str]] = {}
    found: dict[tuple[str, str], ByKey] = {}
    for v in views:
        assert v.plan is not None
        for t in v.plan.tables:
            readers.setdefault((v.engine, t), set()).add(v.name)
        if v.plan.asked is not None:
            for t, columns in v.plan.by_key.items():
                found[v.engine, t] = ByKey(v.name, v.plan.asked.name, columns)
    for d in (d for d in (old.views if old is not None else []) if d.name in (left or {})):
        for t in (left or {})[d.name]:
            readers.setdefault((d.engine, t), set()).add(d.name)
            before = (old.by_key if old is not None else {}).get(d.engine, {}).get(t)
            if before is not None and before.view == d.name:
                found[d.engine, t] = before
    kept = {qualified(t) for t in catalog_tables({t for _, t in found}, catalog) if may(t)}
    out: Tables = {}
    for (engine, t), by in found.items():
        if readers[engine, t] == {by.view} and t in kept:
            out.setdefault(engine, {})[t] = by
    return out


def may(t: Table) -> bool:
    """Whether a row is told by its key at every moment, and its key is written in one way."""
    types = {c.name: c.type for c in t.columns}
    told = bool(t.key) and {*t.identity_key} == {*t.key} and not t.deferrable
    return told and all(
        k in types and findable(types[k], types[k]) for k in t.identity_key
    )  # not one that is generated


def other(old: Deployment, now: Tables) -> Tables:
    """The tables whose mirrors are to have the rows of keys alone, and do not yet; with all tables of the same keys:
    these arrive again."""
    new = {
        (e, by.asked)
        for e, of in now.items()
        for t, by in of.items()
        if t not in old.tables.get(e, []) or old.by_key.get(e, {}).get(t) != by
    }
    return {e: some for e, of in now.items() if (some := {t: b for t, b in of.items() if (e, b.asked) in new})}


def without_holder(d: Deployment) -> None:
    """Tables whose view is not deployed after all are not kept."""
    names = {v.name for v in d.views}
    for e, of in d.by_key.items():
        for t in [t for t, by in of.items() if by.view not in names]:
            d.refused.setdefault(e, {})[t] = {
                ALL: f'It was for the keys of view "{of.pop(t).view}", which is not deployed.'
            }


def empty(warehouse: Warehouse, engine: str, tables: Iterable[str]) -> None:
    """Make the mirrors of these tables anew, without keys or rows."""
    target, d = warehouse.engine(engine), warehouse.deployment
    for t in tables:
        forget_keys(target, d.by_key[engine][t])
        target.create_mirror(d.mirrored(engine, t), some_keys=True)


def forget_keys(target: Engine, by: ByKey) -> None:
    target.drop_mirror(mirror_name(by.asked))
