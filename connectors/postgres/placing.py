"""Which columns of a table are in a form that the stream told: it names them, and names go from one column to another.

A column has a number for life, and the stream has the columns in the order of their numbers. So what is certain comes
from counting: a form has every column that was there when the table was deployed and is there now, and besides these
some that were dropped since, or added. The look that tells has to be later than the form.

Where counting leaves it open names may decide: the only choice in which no column has a name that it never had, if each
has the one that it has now. Three columns that pass names on between two looks, of which two go, can deceive it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import psycopg

from compiler.catalog import Table
from connectors.postgres.connection import current_wal
from connectors.postgres.pgoutput import RelationMessage

OTHER = -1  # in place of the number of a column that was added since
MOST = 12  # columns that a form may have or not, of which every choice is tried
Places = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """A column by its number. `sent`: it is there, and no generated one."""

    name: str
    sent: bool
    dropped: bool


Attributes = dict[int, Attribute]


def attributes(conn: psycopg.Connection, tables: Iterable[int]) -> dict[int, Attributes]:
    """All columns that the tables with these oids have had."""
    out: dict[int, Attributes] = {}
    for oid, number, name, dropped, generated in conn.execute(
        "SELECT attrelid::bigint, attnum, attname::text, attisdropped, attgenerated <> '' FROM pg_attribute "
        "WHERE attrelid = ANY (%s::oid[]) AND attnum > 0",
        (list(tables),),
    ).fetchall():
        out.setdefault(oid, {})[number] = Attribute(name, not dropped and not generated, dropped)
    return out


def places(t: Table, received: tuple[str, ...], now: Attributes, gone: Iterable[int] = ()) -> Places:
    """Of each column of a form, the number; OTHER of those that were added after the table was deployed, and 0 where it
    is not certain. `t` has all columns that it had then; those of `gone` went before the form was told."""
    deployed = {c.place for c in t.columns}
    last = max(deployed, default=0)
    certain = {n for n in deployed if n in now and now[n].sent}
    perhaps = deployed - certain - {*gone}
    perhaps |= {n for n, a in now.items() if n < last and n not in deployed and (a.sent or a.dropped and t.generated)}
    added = sum(n > last for n in now)
    more = len(received) - len(certain)
    found = [
        (*sorted(certain | chosen), *[OTHER] * others)
        for chosen, others in _choices(perhaps, more)
        if 0 <= others <= added
    ]
    if len(could := [p for p in found if _could(p, t, received, now)]) == 1 and _named(could[0], t, received, now):
        found = could
    return tuple(n[0] if len({*n}) == 1 else 0 for n in zip(*found, strict=True)) or (0,) * len(received)


def _choices(perhaps: set[int], more: int) -> Iterator[tuple[set[int], int]]:
    """Which of these may be there, beside how many that were added. Of too many the first ones are left open."""
    if len(perhaps) > MOST:
        return
    for n in range(min(len(perhaps), max(more, 0)) + 1):
        for some in combinations(sorted(perhaps), n):
            yield {*some}, more - n


def _could(numbers: Places, t: Table, received: tuple[str, ...], now: Attributes) -> bool:
    """Whether no column has a name that it is not known to have had, of those of which it is known."""
    known = {c.place: {*c.names} for c in t.columns}
    for n in known:
        if n in now and not now[n].dropped:
            known[n].add(now[n].name)
    return all(n not in known or name in known[n] for n, name in zip(numbers, received, strict=True))


def _named(numbers: Places, t: Table, received: tuple[str, ...], now: Attributes) -> bool:
    """Whether every column has the name that it has now, or of those that are gone one that it is known to have had.
    Of columns that were renamed since names prove nothing."""
    last = max((c.place for c in t.columns), default=0)
    known = {c.place: c.names for c in t.columns} | {n: {a.name} for n, a in now.items() if not a.dropped}
    known[OTHER] = set[str]().union(*(names for n, names in known.items() if n > last))
    return all(name in known.get(n, ()) for n, name in zip(numbers, received, strict=True))


@dataclass(frozen=True)
class Look:
    """At a table, after a form was told; `gone` are columns that went before."""

    now: Attributes
    gone: frozenset[int]


class Placing:
    """What is known of the forms of tables."""

    def __init__(self) -> None:
        self.looks: dict[tuple[int, tuple[str, ...]], Look] = {}
        self.found: dict[tuple[tuple[str, ...], int, frozenset[int], tuple[str, ...]], Places] = {}

    def knows(self, r: RelationMessage) -> bool:
        return (r.oid, r.columns) in self.looks

    def look(
        self, conn: psycopg.Connection, forms: list[RelationMessage], tables: Iterable[Table], frontier: int
    ) -> list[Table]:
        """These were told by now, all of them after `frontier`. Gives the tables of which more columns are gone, with
        where that was seen."""
        now, lsn = attributes(conn, {r.oid for r in forms}), current_wal(conn)
        before: dict[int, frozenset[int]] = {}
        anew = []
        for t in (t for t in tables if t.oid in now):
            before[t.oid] = frozenset(place for place, at in t.gone if at <= frontier)
            known = {place for place, _ in t.gone}
            more = [c.place for c in t.columns if c.place in now[t.oid] and now[t.oid][c.place].dropped]
            if more := [place for place in more if place not in known]:
                anew.append(replace(t, gone=(*t.gone, *((place, lsn) for place in more))))
        looks = {(r.oid, r.columns): Look(now.get(r.oid, {}), before.get(r.oid, frozenset())) for r in forms}
        self.looks.update(looks)
        self.found.clear()
        return anew

    def of(self, r: RelationMessage, t: Table | None) -> Places:
        """The numbers of the form's columns, of the table with all that it had when it was deployed; () where nothing
        is known of it."""
        look = self.looks.get((r.oid, r.columns))
        if t is None or look is None or not all(c.place for c in t.columns):
            return ()
        names = tuple(n for c in t.columns for n in sorted(c.names))
        key = (r.columns, r.oid, frozenset(c.place for c in t.columns), names)
        got = self.found.get(key)
        if got is None:
            got = self.found[key] = places(t, r.columns, look.now, look.gone)
        return got
