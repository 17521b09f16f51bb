"""How views are asked: how often, and by which columns' values, as far as the text of queries tells."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from compiler.errors import TidemarkError
from compiler.ir.scalar import Col
from compiler.maintain.asked import Asked
from connectors.duckdb.session import scratch
from pipelines.asking.keys import wanted
from pipelines.asking.read_only import the_query

MOST = 50_000  # distinct values that are kept of a column
SHARE = 30.0  # times as long as a look took, at least, until the next of any view: who asks is answered first


@dataclass
class Asking:
    """`reads`: statements that read the view. `looked`: those of them whose text was looked at; `by`: of each column
    the number of these that ask by its values alone, and the values. `next`: none is looked at before."""

    reads: int = 0
    looked: int = 0
    next: float = 0.0
    by: dict[str, tuple[int, set[str]]] = field(default_factory=dict)


class Reads:
    """Of all views. Any thread may note and ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.lock, self.looking = clock, threading.Lock(), False
        self.views: dict[str, Asking] = {}
        self.con = scratch()

    def note(self, sql: str, read: Sequence[str], columns: Callable[[], Mapping[str, Sequence[Col]]]) -> None:
        """A statement was answered that reads these views; `columns` are those of all, where they are looked at.

        Each view has its own turn, so that those that are asked one after the other are all looked at."""
        with self.lock:
            for v in read:
                self.views.setdefault(v, Asking()).reads += 1
            begun = self.clock()
            due = [v for v in read if begun >= self.views[v].next]
            if not due or self.looking:
                return
            self.looking = True
        found: dict[str, dict[str, set[str]]] = {}
        try:
            for v in due:
                found[v] = asked_by(self.con, sql, v, columns())
        finally:
            with self.lock:
                self.looking, now = False, self.clock()
                for v in due:
                    self.views[v].next = now + SHARE * len(self.views) * (now - begun)
                for v, by in found.items():
                    self._add(self.views[v], by)

    @staticmethod
    def _add(a: Asking, by: Mapping[str, set[str]]) -> None:
        a.looked += 1
        for column, values in by.items():
            n, seen = a.by.get(column, (0, set()))
            a.by[column] = n + 1, seen | values if len(seen) < MOST else seen

    def of(self, view: str) -> Asking:
        with self.lock:
            return self.views.get(view, Asking())


def asked_by(
    con: duckdb.DuckDBPyConnection, sql: str, view: str, columns: Mapping[str, Sequence[Col]]
) -> dict[str, set[str]]:
    """The columns by whose values a statement asks for a view, with the values, where these are written in it: on `con`
    there is nothing else to read."""
    names = {n.lower(): [c.name for c in cols] for n, cols in columns.items()}
    out = {}
    for c in columns[view]:
        try:
            keys = wanted(the_query(sql), {view.lower(): Asked(view, (c,))}, names)
            if keys:
                out[c.name] = {x for w in keys for x in _values(con, w.query)}
        except (TidemarkError, duckdb.Error):  # it does not ask by this column, or not by values that it says
            continue
    return out


def _values(con: duckdb.DuckDBPyConnection, query: str) -> list[str]:
    rows = con.execute(query).to_arrow_table()
    try:
        return [str(x) for x in rows.column(0).cast(pa.string()).to_pylist() if x is not None]
    except pa.ArrowInvalid:
        return []
