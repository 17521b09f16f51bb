"""Transactions out of events in any order, some of them twice: each once, in commit order, whole."""

from __future__ import annotations

import json
import random
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from compiler.errors import TidemarkError
from connectors.debezium.assembling import Assembler, Open
from connectors.debezium.places import Places
from connectors.debezium.spool import Room

PREFIX = "tidemark_0123456789-abcdef"


def change(xid: int, place: int, lsn: int, after: int, op: str = "c", name: str = PREFIX) -> dict[str, Any]:
    return {
        "op": op,
        "after": {"id": lsn},
        "source": {"name": name, "sequence": json.dumps([str(after) if after else None, str(lsn)]), "lsn": lsn},
        "transaction": {"id": f"{xid}:{lsn}", "total_order": place, "data_collection_order": place},
    }


def end(xid: int, at: int, count: int) -> dict[str, Any]:
    return {"status": "END", "id": f"{xid}:{at}", "event_count": count, "data_collections": []}


def begin(xid: int, at: int) -> dict[str, Any]:
    return {"status": "BEGIN", "id": f"{xid}:{at}", "event_count": None, "data_collections": None}


def written(rng: random.Random, transactions: int) -> tuple[dict[str, list[bytes]], list[tuple[int, list[int]]]]:
    """What a connector that is killed now and then writes to its topics; and ends with the LSNs of their changes."""
    topics: dict[str, list[bytes]] = {"transaction": [], "message": [], "a": [], "b": []}
    expected: list[tuple[int, list[int]]] = []
    history: list[tuple[str, bytes]] = []
    lsn, before = 1000, 0
    for n in range(transactions):
        xid = 3 + (2**32 - 23 + n) % (2**32 - 3)  # they go round
        events: list[tuple[str, bytes]] = [("transaction", json.dumps(begin(xid, lsn)).encode())]
        changed = []
        count = rng.randint(1, 6)
        for place in range(1, count + 1):
            lsn += 8
            topic = rng.choice(["a", "b", "message"])
            if topic != "message":
                changed.append(lsn)
            e = change(xid, place, lsn, before, "m" if topic == "message" else "c")
            events.append((topic, json.dumps(e).encode()))
        lsn += 48
        events.append(("transaction", json.dumps(end(xid, lsn, count)).encode()))
        expected.append((lsn, changed))
        before = lsn
        history += events
    at = 0
    while at < len(history):  # killed, it goes on from a place before
        upto = min(len(history), at + rng.randint(1, 30))
        for topic, value in history[at:upto]:
            topics[topic].append(value)
        at = upto if upto == len(history) or rng.random() < 0.5 else max(0, upto - rng.randint(0, 20))
    return topics, expected


@pytest.mark.parametrize("seed", range(60))
def test_each_transaction_is_given_once_whole_and_in_order(seed: int) -> None:
    """Of topics that are read in any order, by readers of which each goes on where the last one was durable."""
    rng = random.Random(seed)
    topics, expected = written(rng, 40)
    given: list[tuple[int, list[int]]] = []
    durable, start = 0, dict.fromkeys(topics, 0)
    while len(given) < len(expected):
        assembler = Assembler(PREFIX, durable, room=Room(memory=rng.choice([0, 600, 1 << 20])))
        places = Places(Path("/nowhere"), PREFIX)
        places.durable = dict(start)
        rest = {t: deque(enumerate(topics[t][start[t] :], start[t] + 1)) for t in topics}
        stops = rng.randint(1, 200)
        while any(rest.values()) and stops:
            stops -= 1
            topic = rng.choice([t for t in rest if rest[t]])
            for _ in range(rng.randint(1, 8)):
                if not rest[topic]:
                    break
                place, value = rest[topic].popleft()
                places.passed(topic, place, assembler.take(value))
            while (t := assembler.whole()) is not None:
                frames = t.frames[:-1] if t.large is None else t.large
                given.append((t.end, [json.loads(f)["after"]["id"] for f in frames]))
                t.close()
                if rng.random() < 0.7:
                    durable = t.end
                    places.forward(durable)
        assembler.close()
        given = [g for g in given if g[0] <= durable] if stops == 0 else given
        if stops:
            break
        start = {t: places.durable.get(t, 0) for t in topics}
    assert given == expected


@pytest.mark.parametrize("lost", range(1, 12))
def test_what_is_missing_is_waited_for(lost: int) -> None:
    """Any event of three transactions; of one that is missing whole, the next one knows."""
    events = []
    before = 0
    for xid, at in ((1, 100), (2, 200), (3, 300)):
        events += [change(xid, 1, at + 1, before), change(xid, 2, at + 2, before), end(xid, at + 50, 2)]
        before = at + 50
    gone = {lost} if lost < 9 else {0, 1, 2} if lost == 9 else {3, 4, 5} if lost == 10 else {2, 5}
    a = Assembler(PREFIX, 0)
    got = []
    for i, e in enumerate(events):
        if i not in gone:
            a.take(json.dumps(e).encode())
        while (t := a.whole()) is not None:
            got.append(t.end)
    first = min(gone) // 3
    whole = [150, 250, 350][:first] if gone != {8} else [150, 250]
    assert got == whole if gone != {0, 1, 2} else got == [], got
    assert a.lacks() or gone == {8}


def test_a_message_outside_of_transactions_is_a_commit_to_those_after_it() -> None:
    a = Assembler(PREFIX, 0)
    a.take(json.dumps(change(2, 1, 200, 150)).encode())
    a.take(json.dumps(end(2, 250, 1)).encode())
    assert a.whole() is None and "before transaction 2" in a.lacks()
    told = {**change(0, 0, 150, 150, "m"), "transaction": None}
    a.take(json.dumps(told).encode())
    t = a.whole()
    assert t is not None and t.end == 250


REFUSED = {
    "another connector": (change(1, 1, 5, 0, name="theirs"), "of another connector"),
    "schemas": ({"schema": {}, "payload": change(1, 1, 5, 0)}, "cannot be read"),
    "no transactions": ({**change(1, 1, 5, 0), "transaction": None}, "cannot be read"),
    "something else": ({"id": 1}, "cannot be read"),
    "a list": ([1], "cannot be read"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_are_no_events_of_the_deployment_is_refused(name: str) -> None:
    value, why = REFUSED[name]
    with pytest.raises(TidemarkError, match=why):
        Assembler(PREFIX, 0).take(json.dumps(value).encode())


def test_more_events_than_a_transaction_says_are_refused() -> None:
    a = Assembler(PREFIX, 0)
    for place in (1, 2):
        a.take(json.dumps(change(1, place, place, 0)).encode())
    a.take(json.dumps(end(1, 50, 1)).encode())
    with pytest.raises(TidemarkError, match="cannot be read"):
        a.whole()


def test_a_transaction_that_waits_holds_its_place() -> None:
    places, waiting = Places(Path("/nowhere"), PREFIX), Open(7)
    places.passed("t", 1, None)
    places.passed("t", 2, waiting)
    places.passed("t", 3, None)
    places.forward(1_000)
    assert places.durable == {"t": 1}
    waiting.end = 500
    places.forward(499)
    assert places.durable == {"t": 1}
    places.forward(500)
    assert places.durable == {"t": 3}


def take(a: Assembler, *events: dict[str, Any]) -> list[int]:
    """The ends of what is given after each event."""
    got = []
    for e in events:
        a.take(json.dumps(e).encode())
        while (t := a.whole()) is not None:
            got.append(t.end)
    return got


def test_a_message_is_read_again_until_it_is_passed() -> None:
    """Else the transaction after it would wait for it for ever."""
    a, places = Assembler(PREFIX, 100), Places(Path("/nowhere"), PREFIX)
    told = {**change(0, 0, 150, 150, "m"), "transaction": None}
    places.passed("m", 1, a.take(json.dumps(told).encode()))
    places.forward(149)
    assert places.durable == {}
    places.forward(150)
    assert places.durable == {"m": 1}


def test_what_comes_again_long_after_holds_no_place() -> None:
    a, places = Assembler(PREFIX, 300), Places(Path("/nowhere"), PREFIX)
    again = json.dumps(change(5, 1, 250, 200)).encode()  # of what was given by another reader, and ended for it
    places.passed("t", 1, a.take(again))
    assert take(a, change(7, 1, 350, 300), end(7, 400, 1)) == [400]
    places.forward(400)
    assert places.durable == {"t": 1} and not a.open
    places.passed("t", 2, a.take(again))
    assert places.durable == {"t": 2} and not a.open


def test_a_connector_that_has_lost_its_place_is_refused() -> None:
    """Once there was a chain; at its very beginning there is none."""
    first = Assembler(PREFIX, 100)
    assert take(first, change(1, 1, 150, 0), end(1, 200, 1), change(2, 1, 250, 200), end(2, 300, 1)) == [200, 300]
    assert first.begun
    for a, reached in ((first, 300), (Assembler(PREFIX, 300, begun=True), 300)):
        assert take(a, change(2, 1, 250, 0), end(2, 300, 1)) == [] and a.reached == reached  # it was given
        with pytest.raises(TidemarkError, match="began anew"):
            take(a, change(9, 1, 950, 0), end(9, 999, 1))
