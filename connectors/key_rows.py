"""Mirrors that have the rows of some keys alone: those that somebody asked a partial view for.

The rows of a key that arrives are read from the source, in a snapshot that is newer than the frontier. What the stream
still brings of them, it brings twice: a change is passed over exactly where its transaction was visible to the snapshot
in which its key was read. So each key is as of its snapshot until the stream has come there, and follows from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from compiler.catalog import Table
from compiler.maintain.asked import Asked
from connectors.staging import Staged


@dataclass(frozen=True)
class Hold:
    """A table of which a mirror has the rows of the keys `asked` alone; `columns` are the key in it."""

    table: Table
    asked: Asked
    columns: tuple[str, ...]


class KeyRows(Protocol):
    """What an engine does for such mirrors, on the thread that applies batches, between them."""

    def follow(self, s: Staged, hold: Hold, xids: Mapping[int, int]) -> tuple[Staged | None, pa.Table]:
        """Of changes, those that the mirror is to take, by the id of the transaction that commits at each LSN; None
        where there are none.

        And the keys, as text in c0…, of which a row cannot be told, since it came from another key and values were not
        sent that did not change: these have to leave first, and then it is asked again.
        """
        ...

    def arriving(self, hold: Hold, keys: pa.Table, rows: pa.Table, lsn: int) -> Staged:
        """What makes of the mirror's rows with these keys, as text in c0…, the rows that were read, as text in the
        table's columns, where the source's WAL ended at `lsn`. Keys that lose a row to them are as late as they are."""
        ...

    def leaving(self, hold: Hold, keys: pa.Table) -> Staged:
        """What takes the rows with these keys away."""
        ...

    def ahead(self, asked: Asked, lsn: int) -> pa.Table:
        """Keys, as text in c0…, that were read later than `lsn`, or lost a row to such."""
        ...

    def strangers(self, hold: Hold) -> Staged:
        """What takes the rows away with keys that are not there."""
        ...
