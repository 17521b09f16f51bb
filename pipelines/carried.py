"""What is altered in the source and carried on: the views stay what they are.

An enum that was given more labels: what is kept of its values is text, and stays what it is. A view goes on whose
states do not hang on the order of the labels; one whose states do (`max(mood)`, a window by mood) is something else
with them.

A table or a column that was renamed: the catalog knows it by its number. It keeps the name that it was deployed with,
here and in the views, and what asks the source calls it by the new one. Where that name is, or was when it was
deployed, another's, it is not clear which rows of the stream are whose, and it is not carried on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.catalog import Catalog, Column, Generated, Table
from compiler.ir.types import Type
from compiler.maintain.plan import ViewPlan
from connectors.changed import TableChanged, changed, replaced
from pipelines.deployment import Deployment
from pipelines.refused import columns_read, qualified


@dataclass(frozen=True)
class Carried:
    """`labels`: of an enum, by the oid of a column's type; `columns`: of each table, as the source has them by now, and
    `tables` what it calls them, and `between` what it called them for a while; `expressions`:
    of the generated columns that are as they were. `left`: what is not carried on."""

    labels: dict[int, tuple[str, ...]] = field(default_factory=dict)
    columns: dict[str, dict[str, str]] = field(default_factory=dict)
    tables: dict[str, tuple[str, str]] = field(default_factory=dict)
    between: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)
    expressions: dict[str, tuple[Generated, ...]] = field(default_factory=dict)
    left: list[Exception] = field(default_factory=list)

    def rename(self, e: TableChanged) -> None:
        """What was found renamed has the name that was found."""
        assert e.table is not None
        name = qualified(e.table)
        if e.table_called is not None:
            self.tables[name] = e.table_called
            self.between.setdefault(name, set()).update([e.between] if e.between else [])
            return
        self.columns.setdefault(name, {})[e.columns[0]] = e.called

    def over(self, catalog: Iterable[Table]) -> list[Table]:
        """The tables as they are with it."""
        return [self._table(t) for t in catalog]

    def told(self, catalog: Iterable[Table]) -> list[tuple[str, str]]:
        """What has another name than in the catalog, and which."""
        tables = {qualified(t): t for t in catalog}
        out = [(t, ".".join(now)) for t, now in self.tables.items() if tables[t].now != now]
        for t, columns in self.columns.items():
            for name, now in columns.items():
                c = tables[t].column(name)
                if c is None or c.now != now:
                    out.append((f"{t}.{name}", now))
        return out

    def _table(self, t: Table) -> Table:
        name = qualified(t)
        if (now := self.tables.get(name)) is not None:
            known = {*t.former, t.called, *self.between.get(name, set())} - {()}
            former = t.former if known <= {*t.former} else tuple(sorted(known))
            t = replace(t, called=now if now != (t.schema, t.name) else (), former=former)
        if name in self.expressions:
            t = replace(t, expressions=self.expressions[name])
        return replace(t, columns=tuple(self._column(name, c) for c in t.columns))

    def _column(self, table: str, c: Column) -> Column:
        if (now := self.columns.get(table, {}).get(c.name)) is not None:
            known = {c.called, *c.former} - {"", now}
            c = replace(c, called=now if now != c.name else "", former=tuple(sorted(known)))
        return replace(c, type=_type(c.type, self.labels[c.oid])) if c.oid in self.labels else c


def fixed(d: Deployment, capture: str) -> set[str]:
    """The tables that keep the names that they have: of which some keys' rows alone are kept, and with Debezium all."""
    every = {qualified(t) for t in d.catalog}
    return {t for of in d.by_key.values() for t in of} if capture == "stream" else every


def carried(
    found: Sequence[Exception], catalog: Iterable[Table], names: Collection[str], labels: bool = True
) -> Carried:
    """Of what was found altered; the tables `names` keep theirs. Without `labels` those wait for the next look."""
    tables = {qualified(t): t for t in catalog}
    out = Carried()
    for e in found:
        if not isinstance(e, TableChanged) or e.table is None:
            out.left.append(e)
            continue
        name = qualified(e.table)
        if e.expressions is not None:
            if labels:
                out.expressions[name] = e.expressions
        elif e.labels:
            if labels:
                out.labels.update({c.oid: e.labels for c in e.table.columns if c.name in e.columns})
        elif e.renamed and name not in names and _clear(tables, e):
            out.rename(e)
        else:
            out.left.append(e)
    out.left[:] = [e for e in out.left if not _explained(e, out)]
    return out


def _clear(tables: Mapping[str, Table], e: TableChanged) -> bool:
    """Whether no other table, or column of it, had the names."""
    assert e.table is not None
    name = qualified(e.table)
    if e.table_called is not None:
        asked = {e.table_called, e.between}
        return not any(asked & t.names for other, t in tables.items() if other != name)
    if name not in tables:
        return False
    return not any(e.called in c.names for c in tables[name].columns if c.name not in e.columns)


def _explained(e: Exception, new: Carried) -> bool:
    """Whether the stream showed no more than what is carried on; of the rest the error tells from then on."""
    if not isinstance(e, TableChanged) or e.table is None:
        return False
    name = qualified(e.table)
    if e.told_by_name:
        return name in new.tables
    if not e.received:
        return False
    known = new.columns.get(name, {})
    before, e.columns = e.columns, tuple(c for c in e.columns if c not in known)
    return bool(before) and not e.columns


def called(tables: Iterable[Table], found: Iterable[TableChanged]) -> list[Table]:
    """The tables, which are and whose columns are called what was found."""
    new = Carried()
    for e in found:
        if e.renamed:
            new.rename(e)
    return new.over(tables)


def taken(deployed: Iterable[Table], plans: Collection[ViewPlan], catalog: Catalog) -> list[TableChanged]:
    """The tables and columns that these views read whose names are those of others by now: what was deployed under them
    has another, or is gone."""
    now = {qualified(t): t for t in catalog.tables.values()}
    again = {t.oid for t in catalog.tables.values() if any(qualified(t) in p.tables for p in plans)}
    out = []
    for t in deployed:
        name, other = qualified(t), now.get(qualified(t))
        if t.called and t.oid in again and (other is None or other.oid != t.oid):  # it is read under its new name
            out.append(replaced(t))
            continue
        if other is None or not any(name in p.tables for p in plans):
            continue
        places = {c.name: c.place for c in other.columns}
        read: set[str] = set().union(*(columns_read(p).get(name, set()) for p in plans))
        moved = [c.name for c in t.columns if c.name in read and c.place and places.get(c.name, 0) not in (0, c.place)]
        kept = [c.name for c in t.columns if c.name in read and c.name not in moved and _declared(c, other)]
        if t.oid and other.oid and t.oid != other.oid:
            out.append(replaced(t))
            continue
        for name in kept:
            why = "Values that are kept already are of the type that was declared before."
            of = f'column "{name}" of "{t.schema}.{t.name}"'
            out.append(changed(t, f"{of} is declared to be kept as another type", why, columns=(name,)))
        if moved:
            why = "What was deployed has another name, or is gone."
            of = f'column "{moved[0]}" of "{t.schema}.{t.name}"'
            out.append(changed(t, f"{of} is another one by now", why, columns=tuple(moved)))
    return out


def _declared(c: Column, now: Table) -> bool:
    """Whether tidemark.toml says otherwise by now how a numeric is kept."""
    to = now.column(c.name)
    kinds = {"numeric", "opaque"}
    return to is not None and c.type.name in kinds and to.type.name in kinds and c.type != to.type


def under_deployed_names(catalog: Catalog, deployed: Iterable[Table]) -> Catalog:
    """The source's catalog, in which what was renamed has the name that it was deployed with, where that is free."""
    tables = dict(catalog.tables)
    for t in deployed:
        now = tables.get(t.now)
        if now is None or now.oid != t.oid or (t.called and (t.schema, t.name) in tables):
            continue
        there = {c.place: c.name for c in now.columns}
        same = {
            c.called: c
            for c in t.columns
            if c.called and there.get(c.place) == c.called and c.name not in there.values()
        }
        names = {called: c.name for called, c in same.items()}
        columns = tuple(
            replace(c, name=was.name, called=c.name, former=was.former) if (was := same.get(c.name)) is not None else c
            for c in now.columns
        )
        key, identity = (tuple(names.get(k, k) for k in ks) for ks in (now.key, now.identity_key))
        del tables[t.now]
        tables[(t.schema, t.name)] = replace(
            now,
            schema=t.schema,
            name=t.name,
            called=t.called,
            columns=columns,
            key=key,
            identity_key=identity,
            expressions=expressions(t, now),
        )
    return replace(catalog, tables=tables)


def expressions(t: Table, now: Table) -> tuple[Generated, ...]:
    """Those of the generated columns that a deployed table has now: as they were, they name columns as these were
    called."""
    same = {g.definition: g.expression for g in t.expressions if g.definition}
    return tuple(replace(g, expression=same.get(g.definition, g.expression)) for g in now.expressions)


def _type(t: Type, labels: tuple[str, ...]) -> Type:
    if t.name == "enum":
        return replace(t, labels=labels)
    return replace(t, element=_type(t.element, labels)) if t.element is not None else t


def others(was: Mapping[str, ViewPlan], now: Mapping[str, ViewPlan | None]) -> tuple[list[str], list[str]]:
    """The views with other states than they had, and those that read their states otherwise."""
    kept, read = [], []
    for view, before in was.items():
        after = now.get(view)
        if after is None or [s.name for s in after.states] != [s.name for s in before.states]:
            kept.append(view)
        elif repr(after.top) != repr(before.top):
            read.append(view)
    return kept, read
