"""What was received, as what an engine takes: a batch at once, a large transaction part by part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol

from compiler.catalog import Table
from connectors.postgres.pgoutput import RelationMessage, is_relation, parse_relation
from connectors.postgres.transactions import HEADER, Limits, Transaction
from connectors.staging import Staged, stage
from pipelines.applying.changes import ChangeDecoder

PIECE = 32 << 20  # bytes of a part, at most
SOME = -1  # a transaction: Debezium does not number them
Tables = dict[tuple[str, str], Table]
Refused = Mapping[str, Collection[str]]
PlacesOf = Callable[[RelationMessage], tuple[int, ...]]  # the numbers of a form's columns


class Batch(Protocol):
    """Changes that are applied together. It may be staged again, where that was tried and failed."""

    forms: list[RelationMessage]  # of the tables that are told in it, in order
    count: int  # about how many rows a large one has, 0 of others
    xids: Mapping[int, int]  # commit LSN of each transaction → its id, of 32 bits

    def staged(
        self, tables: Tables, after: int, refused: Refused, parts: bool, places: PlacesOf
    ) -> tuple[list[Staged], Iterable[list[Staged]]]:
        """The first changes, and the rest, if it comes in `parts`; as `stage` has them."""
        ...

    def has(self, t: Table) -> bool:
        """Whether there are changes of this table, as far as is known without decoding."""
        ...

    def truncated_by(self, t: Table) -> int:
        """The last transaction, as the source numbers it, that truncates the table; 0 where none does, and `SOME` where
        its number is not known."""
        ...

    def close(self) -> None: ...


class Small:
    """Frames of whole transactions."""

    count = 0

    def __init__(self, decoder: ChangeDecoder, frames: list[bytes]) -> None:
        self.decoder, self.decoded = decoder, decoder.decode(frames)
        self.forms = self.decoded.forms
        self.xids: Mapping[int, int] = self.decoded.xids

    def staged(
        self, tables: Tables, after: int, refused: Refused, parts: bool, places: PlacesOf
    ) -> tuple[list[Staged], Iterable[list[Staged]]]:
        return stage(tables, self.decoded, self.decoder.relations, after, refused, places), ()

    def has(self, t: Table) -> bool:
        return True

    def truncated_by(self, t: Table) -> int:
        cut = self.decoded.truncated.get(t.oid)
        return 0 if cut is None else self.xids.get(cut[1], 0) or SOME

    def close(self) -> None: ...


class Large:
    """A transaction that did not fit into memory. What it tells of tables is read each time from its beginning."""

    def __init__(self, decoder: ChangeDecoder, t: Transaction, limits: Limits) -> None:
        assert t.large is not None
        self.decoder, self.spool, self.lsn, self.limits = decoder, t.large, t.lsn, limits
        self.forms, self.count = [parse_relation(f[HEADER:]) for f in t.large.forms], t.large.count
        self.xids: Mapping[int, int] = {t.lsn: t.xid}
        self.relations = dict(decoder.relations)

    def staged(
        self, tables: Tables, after: int, refused: Refused, parts: bool, places: PlacesOf
    ) -> tuple[list[Staged], Iterable[list[Staged]]]:
        self.decoder.relations = dict(self.relations)
        # of a deferrable key two rows may be there between two parts, and only one after them
        apart = not any(t.deferrable and self.spool.changes(t) for t in tables.values())
        every = self._staged(tables, after, refused, parts and apart, places)
        return next(every, []), every

    def _staged(
        self, tables: Tables, after: int, refused: Refused, parts: bool, places: PlacesOf
    ) -> Iterator[list[Staged]]:
        pieces = (
            self.spool.pieces(self.limits.rows, min(self.limits.bytes, PIECE)) if parts else iter([list(self.spool)])
        )
        for frames in pieces:
            decoded = self.decoder.decode(frames, self.lsn)
            yield stage(tables, decoded, self.decoder.relations, after, refused, places)

    def has(self, t: Table) -> bool:
        return self.spool.changes(t)

    def truncated_by(self, t: Table) -> int:
        return (self.xids.get(self.lsn, 0) or SOME) if self.spool.truncates(t) else 0

    def learn(self) -> None:
        """Read what it tells of tables alone: it was applied before, and the server tells that once."""
        if self.forms:
            self.decoder.decode([f for f in self.spool if is_relation(f)], self.lsn)

    def close(self) -> None:
        self.spool.close()
