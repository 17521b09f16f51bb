"""The keys of a partial view that somebody asked for: a small table of the warehouse, beside the mirrors.

A state that is held by it keeps the rows of these keys alone. Keys arrive, when someone asks for one that is not
there, and leave, when nobody has asked for a while; no change of the source does either.
"""

from __future__ import annotations

from dataclasses import dataclass

from compiler.catalog import Column, Table
from compiler.ir.relation import Keys, Project, Relation, Scan, Semi
from compiler.ir.scalar import Col, conj, same
from compiler.ir.types import INT8, TEXT
from compiler.maintain.naming import short_hash, slug

SCHEMA = "pg_asked"  # Postgres lets nobody make a schema of such a name
SEEN = (
    Column("_seen_lsn", INT8),  # where the source's WAL ended, not before the snapshot
    Column("_seen_low", INT8),  # the snapshot, as Postgres prints it: xmin, xmax and, apart by commas, the xip_list
    Column("_seen_high", INT8),
    Column("_seen_running", TEXT),
)


@dataclass(frozen=True)
class Asked:
    """The table of keys of a view: `columns` are those of the view that make the key. Where their rows are read from
    the source, each key has the snapshot that it was `seen` in."""

    view: str
    columns: tuple[Col, ...]
    seen: bool = False

    @property
    def name(self) -> str:
        """Its name with its schema; keys of other columns, or of other types, have another table."""
        return f"{SCHEMA}.{self._bare}"

    @property
    def _bare(self) -> str:
        types = ", ".join(f"{c.name} {c.type}" for c in self.columns) + (", seen" if self.seen else "")
        return f"{slug([self.view, 'by', *(c.name for c in self.columns)])}_{short_hash(f'{self.view}: {types}')}"

    @property
    def table(self) -> Table:
        """It as engines know mirrors."""
        key = tuple(c.name for c in self.columns)
        columns = tuple(Column(c.name, c.type, True) for c in self.columns)
        return Table(SCHEMA, self._bare, columns + (SEEN if self.seen else ()), key, "default", key)

    def read(self, at: str = "after", prefix: str = "_asked") -> Relation:
        """The keys, in columns _asked_0, …"""
        scan = Scan(self.name, self.columns, tuple(c.name for c in self.columns), at)
        return Project(scan, tuple((f"{prefix}_{i}", c) for i, c in enumerate(self.columns)))


def arrived(asked: Asked) -> Keys:
    """Of a batch that changes keys, those that are there after it, in the columns of `asked.read()`."""
    return _moved(asked, anti=False)


def left(asked: Asked) -> Keys:
    """Those that are gone."""
    return _moved(asked, anti=True)


def _moved(asked: Asked, anti: bool) -> Keys:
    moved, now = asked.read("delta", "_moved"), asked.read("after", "_now")
    on = conj([same(a, b) for a, b in zip(moved.schema, now.schema, strict=True)])
    names = asked.read().names
    return Keys(Semi(moved, now, on, anti), tuple(zip(names, moved.schema, strict=True)))
