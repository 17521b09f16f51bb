"""Whole transactions of Debezium's events where these come from several topics: in any order, and some of them twice.

An event tells its transaction and its place in it; the event that ends a transaction tells how many it has. Events also
tell where the commit before their transaction ended, as the connector saw it: so that a transaction that is missing is
noticed. Without I/O. Source: Debezium documentation, "Transaction metadata"; of `sequence`, read off the connector.
"""

from __future__ import annotations

import heapq
import json
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from compiler.errors import TidemarkError
from connectors.debezium.feed import transaction
from connectors.debezium.spool import EventSpool, Room
from connectors.postgres.transactions import Transaction

REMEMBERED = 100_000  # transactions that were given, of which events may come again


@dataclass(eq=False)
class Open:
    """A transaction whose events come; `count` and `ended` once it is known how many. `end`: 0 until it is given or
    known to have been before."""

    xid: int
    events: EventSpool | None = None
    messages: set[int] = field(default_factory=set)  # places in it that change nothing
    after: int = 0  # where the commit before it ended
    count: int = -1
    ended: bytes = b""
    identifier: str = ""
    end: int = 0

    @property
    def missing(self) -> int:
        """How many of its events have not come; raises TidemarkError where more came than it has."""
        missing = self.count - (len(self.events) if self.events is not None else 0) - len(self.messages)
        if missing < 0:
            raise unreadable(f"Transaction {self.xid} ends after {self.count:,} events, and has more.")
        return missing


@dataclass(frozen=True)
class Event:
    """What an event says: of a change, its transaction, place and the commit before; of an end, `identifier`."""

    xid: int = 0
    place: int = 0
    after: int = 0
    lsn: int = 0
    kind: str = ""  # c, u, d, t, m; BEGIN, END
    identifier: str = ""
    count: int = -1
    connector: str = ""


class Assembler:
    """Gives each transaction once, in commit order, when all of it is there and nothing before it is missing: what the
    connector saw commit before it is what was given last (from Postgres 15 on, no commit is sent that publishes
    nothing).

    `reached`: the LSN up to which everything was given.
    """

    def __init__(self, prefix: str, reached: int, begun: bool = False, room: Room | None = None) -> None:
        """`begun`: whether the chain has, before."""
        self.prefix, self.reached, self.begun, self.room = prefix, reached, begun, room or Room()
        self.before = 0  # where the commit before the last given one ended
        self.seen = reached  # also messages outside of transactions
        self.open: dict[int, Open] = {}
        self.ends: list[tuple[int, Open]] = []  # a heap: where those end whose ends came
        self.given: OrderedDict[int, int] = OrderedDict()  # transaction → its end

    def take(self, value: bytes) -> Open | None:
        """An event; gives the transaction that it is part of, None where it is of none that is still to come. Raises
        TidemarkError for what cannot be read."""
        e = read(value)
        if e.kind in ("BEGIN", ""):
            return None
        if e.kind == "END":
            return self._end(e, value)
        if e.connector and e.connector != self.prefix:
            raise foreign(e.connector, self.prefix)
        if not e.xid:
            if e.kind != "m":
                raise unreadable("They do not tell of transactions.")
            self.seen = max(self.seen, e.lsn)
            return Open(0, end=e.lsn)  # it is read again until it is passed
        if e.lsn <= self.given.get(e.xid, 0) or 0 < e.after < self.before:
            return None
        t = self.open.get(e.xid)
        if t is None:
            t = self.open[e.xid] = Open(e.xid)
        t.after = max(t.after, e.after)
        if e.kind == "m":
            t.messages.add(e.place)
        else:
            t.events = t.events or self.room.new()
            t.events.add(e.place, value)
        return t

    def _end(self, e: Event, value: bytes) -> Open | None:
        end = int(e.identifier.partition(":")[2])
        if end <= self.reached:
            self._done(self.open.pop(e.xid, Open(e.xid)), end)
            return None
        t = self.open.setdefault(e.xid, Open(e.xid))
        if not t.ended:  # else it comes again
            t.count, t.ended, t.identifier = e.count, value, e.identifier
            heapq.heappush(self.ends, (end, t))
        return t

    def _done(self, t: Open, end: int) -> None:
        if t.events is not None:
            t.events.close()
        t.end, t.events, t.messages, t.ended = end, None, set(), b""
        self.given[t.xid] = max(end, self.given.get(t.xid, 0))
        self.given.move_to_end(t.xid)
        while len(self.given) > REMEMBERED:
            self.given.popitem(last=False)

    def whole(self) -> Transaction | None:
        """The next transaction, if it is whole and the next."""
        if not self.ends or self.lacks():
            return None
        _, t = heapq.heappop(self.ends)
        events, t.events = t.events if t.events is not None else self.room.new(), None
        out = transaction(events, t.ended, t.identifier)
        self.open.pop(t.xid, None)
        self.reached = max(self.reached, out.end)
        self.seen, self.before = max(self.seen, out.end), max(self.before, t.after)
        self.begun = self.begun or t.after > 0
        self._done(t, out.end)
        for other in [o for o in self.open.values() if 0 < o.after < self.before]:  # of what was given long ago
            self._done(self.open.pop(other.xid), out.end)
        return out

    def close(self) -> None:
        """What has come of transactions that are not whole is void."""
        for t in self.open.values():
            self._done(t, 0)

    def lacks(self) -> str:
        """What the next transaction waits for, if for anything."""
        if not self.ends:
            return ""
        t = self.ends[0][1]
        if t.missing:
            return f"{t.missing:,} of {t.count:,} events of transaction {t.xid} have not come"
        if self.begun and not t.after:
            raise TidemarkError(
                "the connector began anew, and does not know where it was",
                code="events_unlinked",
                detail=f"What it saw before transaction {t.xid} is not told: something may be missing. Its offsets, or "
                "the slot, were lost or made again.",
                hint="Run: tidemark deploy --resync",
            )
        if t.after > self.seen:
            return f"what was committed before transaction {t.xid} has not come"
        return ""


def read(value: bytes) -> Event:
    """What an event says of itself. Raises TidemarkError where it is none, or carries its schema with it."""
    try:
        return _read(json.loads(value))
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise unreadable("Something in them is none of its events in JSON.") from e


def _read(found: Any) -> Event:
    if found is None or found.keys() == {"ts_ms"}:  # after a delete; a heartbeat
        return Event()
    if "payload" in found:
        raise unreadable("They carry their schemas with them.")
    if "status" in found:
        identifier, count = found["id"], found["event_count"]
        return Event(int(identifier.partition(":")[0]), kind=found["status"], identifier=identifier, count=count or 0)
    source, of = found["source"], found["transaction"] or {}
    before = (json.loads(source["sequence"]) if source.get("sequence") else [None])[0]
    return Event(
        int(of.get("id", "0").partition(":")[0]),
        int(of.get("total_order", 0)),
        int(before or 0),
        int(source["lsn"] or 0),
        found["op"],
        connector=source["name"],
    )


def foreign(name: str, prefix: str) -> TidemarkError:
    return TidemarkError(
        f'the events are of another connector, "{name}"',
        code="events_foreign",
        detail=f'This deployment\'s is "{prefix}": it is told how to write values so that none is lost.',
        hint="tidemark check --connector prints it.",
    )


def unreadable(why: str) -> TidemarkError:
    return TidemarkError(
        "Debezium's events cannot be read",
        code="events_unreadable",
        detail=why,
        hint="tidemark check --connector prints the connector whose events can be.",
    )
