"""Named places at which a test stops the program, to see that nothing is lost there.

`TIDEMARK_FAILPOINTS="duckdb.landed=kill:3,deploy.copied=raise"` kills the process (SIGKILL) the third time it reaches
`duckdb.landed`, and raises FailpointReached the first time it reaches `deploy.copied`; `wait` stays there for a minute.
Without the variable a failpoint costs one look into an empty table. A name that is not listed here is an error, in the
variable and in the code.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from enum import Enum

VARIABLE = "TIDEMARK_FAILPOINTS"


class Action(Enum):
    KILL = "kill"
    RAISE = "raise"
    WAIT = "wait"


ACTIONS = {a.value: a for a in Action}
NAMES = frozenset(
    {
        "capture.received",
        "capture.decoded",
        "capture.applied",
        "capture.acknowledged",
        "duckdb.begun",
        "duckdb.landed",
        "duckdb.part",
        "duckdb.maintained",
        "duckdb.frontier",
        "duckdb.committed",
        "duckdb.filling",
        "duckdb.filled",
        "duckdb.catching_up",
        "duckdb.folding",
        "duckdb.folded",
        "duckdb.taking",
        "duckdb.taken",
        "duckdb.tail",
        "duckdb.tail_folded",
        "duckdb.summing",
        "duckdb.summed",
        "duckdb.rewrite",
        "duckdb.rewritten",
        "spark.landed",
        "spark.computed",
        "spark.manifest",
        "spark.done",
        "spark.commit",
        "spark.committed",
        "spark.frontier",
        "spark.cleared",
        "spark.compact",
        "spark.filled",
        "local.written",
        "local.committed",
        "local.frontier",
        "local.cleared",
        "local.rebuilt",
        "copies.committed",
        "copies.noted",
        "ask.missing",
        "ask.read",
        "ask.filled",
        "ask.evicting",
        "ask.dismissed",
        "snapshot.exported",
        "snapshot.chunk",
        "snapshot.range",
        "deploy.saved",
        "deploy.published",
        "deploy.copied",
        "deploy.met",
        "deploy.filled",
        "deploy.live",
        "arriving.published",
        "arriving.caught_up",
        "redeploy.published",
        "redeploy.met",
        "redeploy.adopted",
        "redeploy.caught_up",
        "redeploy.copied",
        "redeploy.built",
        "redeploy.saved",
        "resync.marked",
        "resync.copied",
        "resync.filled",
        "resync.saved",
    }
)


class FailpointReached(Exception):
    """Raised at a failpoint that was set to `raise`."""


def parse(text: str) -> dict[str, tuple[Action, int]]:
    """name → (what to do, at which time it is reached); raises ValueError for names and actions that are not known."""
    out = {}
    for item in filter(None, map(str.strip, text.split(","))):
        name, _, action = item.partition("=")
        what, _, at = action.partition(":")
        if name not in NAMES or what not in ACTIONS:
            raise ValueError(f"{VARIABLE}: {item!r} is not one of the failpoints, or neither kill, raise nor wait")
        out[name] = (ACTIONS[what], int(at or 1))
    return out


class Failpoints:
    """The failpoints that are set, and how often each was reached."""

    def __init__(self, wanted: Mapping[str, tuple[Action, int]]) -> None:
        self.wanted = dict(wanted)
        self.reached = dict.fromkeys(self.wanted, 0)
        self.lock = threading.Lock()

    def reach(self, name: str) -> None:
        """Does what was asked for here, at its time: kills, raises FailpointReached, or waits 60 s. ValueError for
        no such name."""
        if name not in NAMES:
            raise ValueError(f"no failpoint is named {name}")
        if name not in self.wanted:
            return
        action, at = self.wanted[name]
        with self.lock:
            self.reached[name] += 1
            if self.reached[name] != at:
                return
        match action:
            case Action.KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            case Action.RAISE:
                raise FailpointReached(name)
            case Action.WAIT:
                time.sleep(60)


ACTIVE = Failpoints(parse(os.environ.get(VARIABLE, "")))


def reach(name: str) -> None:
    """Stop here if the environment asks for it."""
    if ACTIVE.wanted:
        ACTIVE.reach(name)
