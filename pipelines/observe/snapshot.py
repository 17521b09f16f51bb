"""The shape of what a pipeline tells of itself: made by `RunState`, sent as JSON; `/readyz` and the table read it."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Phase = Literal["starting", "running", "stopped"]


class EngineShot(TypedDict):
    """`fresh_at` is None until the server has said that all it had was ours: `stale_seconds` is since the start."""

    frontier: int
    fresh_at: float | None
    stale_seconds: float
    stale_bytes: int | None  # None while the source's LSN is not known
    error: str


class ViewShot(TypedDict):
    """`set_aside`: why the view is not maintained, '' where it is. `rows` only where somebody has counted."""

    view: str
    engine: str
    maintenance: str
    set_aside: str
    refresh_seconds: float | None
    rows: NotRequired[int | None]


class SourceShot(TypedDict):
    """`seconds` that it has been so; `lsn`, `retained_bytes` and `safe_bytes` as they were told at `told_at`."""

    state: Literal["connected", "away"]
    since: float
    seconds: float
    reason: str
    attempts: int
    retry_in: float | None
    reconnects: int
    lsn: int | None
    retained_bytes: int | None
    safe_bytes: int | None  # that may be written until the slot may be lost; None without a bound
    told_at: float | None


class Counters(TypedDict):
    """Since the start. `changes` are rows of the source, `rows` what landed, on each engine."""

    batches: int
    transactions: int
    changes: int
    rows: int
    received_bytes: int
    failures: int


def nothing() -> Counters:
    return {"batches": 0, "transactions": 0, "changes": 0, "rows": 0, "received_bytes": 0, "failures": 0}


class BatchSeconds(TypedDict):
    """A histogram: for each upper bound, how many batches took at most that; `last` is the last batch's."""

    buckets: list[tuple[float, int]]
    count: int
    sum: float
    last: float | None


class PartialShot(TypedDict):
    """A partial view: the keys and bytes that are kept, and keys that readers found there, did not, and that left."""

    keys: int
    bytes: int
    hits: int
    misses: int
    evicted: int


class PacedShot(TypedDict):
    """A view that may lag: rows of changes that wait, the time at which none did, in seconds since the epoch, and how
    often it was finished."""

    waiting: int
    complete_at: float
    finished: int


class Snapshot(TypedDict):
    """All of it at `at`, in seconds since the epoch; LSNs are numbers."""

    at: float
    phase: Phase
    reason: str  # why it stopped
    slot: str
    started_at: float
    heartbeat_seconds: float  # since the loop's thread last moved
    engines: dict[str, EngineShot]
    views: list[ViewShot]
    partial: dict[str, PartialShot]
    paced: dict[str, PacedShot]
    source: SourceShot
    counters: Counters
    batch_seconds: BatchSeconds
    changes_per_second: float
    resident_bytes: int | None
