"""Prometheus metrics, made from a snapshot when they are asked for: ages grow also while the loop hangs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from pipelines.observe.snapshot import (
    BatchSeconds,
    Counters,
    EngineShot,
    PacedShot,
    PartialShot,
    Snapshot,
    SourceShot,
    ViewShot,
)
from pipelines.observe.state import RunState


def registry(state: RunState) -> CollectorRegistry:
    """`tidemark_…` of this state, and `process_…` of this process."""
    r = CollectorRegistry()
    r.register(StateCollector(state))
    ProcessCollector(registry=r)
    return r


class StateCollector(Collector):
    """One snapshot a scrape."""

    def __init__(self, state: RunState) -> None:
        self.state = state

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        s = self.state.snapshot()
        yield from _engines(s["engines"])
        yield from _views(s["views"])
        yield from _partial(s["partial"])
        yield from _paced(s["paced"])
        yield from _source(s["source"])
        yield from _counters(s["counters"])
        yield _batch_seconds(s["batch_seconds"])
        yield from _run(s)


def _gauge(
    name: str, text: str, values: Mapping[tuple[str, ...], float | None], labels: tuple[str, ...] = ()
) -> GaugeMetricFamily:
    """A gauge; values that are not known are left out."""
    g = GaugeMetricFamily(f"tidemark_{name}", text, labels=labels)
    for key, value in values.items():
        if value is not None:
            g.add_metric(key, value)
    return g


def _partial(partial: dict[str, PartialShot]) -> Iterator[Metric]:
    for name, text in (
        ("keys", "Keys of a partial view that are kept."),
        ("bytes", "About the bytes of their rows."),
        ("hits", "Keys that readers found there."),
        ("misses", "Keys that had to be filled."),
        ("evicted", "Keys that left."),
    ):
        yield _gauge(f"partial_{name}", text, {(v,): p[name] for v, p in partial.items()}, ("view",))  # type: ignore[literal-required]


def _paced(paced: dict[str, PacedShot]) -> Iterator[Metric]:
    for name, key, text in (
        ("waiting_rows", "waiting", "Rows of changes that a view that may lag has not taken yet."),
        ("complete_timestamp_seconds", "complete_at", "When nothing waited for a view that may lag."),
        ("finished", "finished", "How often a view that may lag was brought to the frontier by this run."),
    ):
        yield _gauge(f"paced_{name}", text, {(v,): p[key] for v, p in paced.items()}, ("view",))  # type: ignore[literal-required]


def _engines(engines: dict[str, EngineShot]) -> Iterator[Metric]:
    label = ("engine",)
    shots = {(name,): e for name, e in engines.items()}
    yield _gauge(
        "frontier_lsn_bytes",
        "LSN up to which the views are complete, but those that may lag.",
        {k: e["frontier"] for k, e in shots.items()},
        label,
    )
    yield _gauge(
        "stale_seconds",
        "Now less the last moment at which the server said that all it had was ours.",
        {k: e["stale_seconds"] for k, e in shots.items()},
        label,
    )
    yield _gauge(
        "stale_bytes",
        "WAL between the frontier and where the source was when it last told.",
        {k: e["stale_bytes"] for k, e in shots.items()},
        label,
    )
    yield _gauge(
        "engine_failed",
        "1 from a failure until the frontier moves again.",
        {k: float(bool(e["error"])) for k, e in shots.items()},
        label,
    )


def _views(views: list[ViewShot]) -> Iterator[Metric]:
    yield _gauge(
        "view_set_aside",
        "1 where a view failed and is not maintained.",
        {(v["view"],): float(bool(v["set_aside"])) for v in views},
        ("view",),
    )
    yield _gauge(
        "view_refresh_seconds",
        "Time that the last batch spent on a view's states.",
        {(v["view"], v["engine"]): v["refresh_seconds"] for v in views},
        ("view", "engine"),
    )


def _source(s: SourceShot) -> Iterator[Metric]:
    yield _gauge("source_connected", "1 while the replication stream is open.", {(): float(s["state"] == "connected")})
    yield _gauge("source_lsn_bytes", "Where the source's WAL was when it last told.", {(): s["lsn"]})
    yield _gauge("source_told_timestamp_seconds", "When the source last told.", {(): s["told_at"]})
    yield _gauge("slot_retained_bytes", "WAL that the slot keeps at the source.", {(): s["retained_bytes"]})
    text = "WAL that may yet be written until the source may remove what the slot needs; absent without a bound."
    yield _gauge("slot_safe_bytes", text, {(): s["safe_bytes"]})
    yield CounterMetricFamily("tidemark_reconnects", "Lost connections that were open again.", value=s["reconnects"])


def _counters(c: Counters) -> Iterator[Metric]:
    for name, value, text in (
        ("batches", c["batches"], "Batches taken."),
        ("transactions", c["transactions"], "Transactions of the source taken."),
        ("changes", c["changes"], "Rows changed in the source."),
        ("rows", c["rows"], "Rows landed, on every engine."),
        ("received_bytes", c["received_bytes"], "Bytes of the replication stream."),
        ("failures", c["failures"], "Failures after which the run went on."),
    ):
        yield CounterMetricFamily(f"tidemark_{name}", text, value=value)


def _batch_seconds(b: BatchSeconds) -> Metric:
    buckets = [*((str(bound), n) for bound, n in b["buckets"]), ("+Inf", b["count"])]
    h = HistogramMetricFamily("tidemark_batch_seconds", "Time that batches took to decode, land and maintain.")
    h.add_metric([], buckets, b["sum"])
    return h


def _run(s: Snapshot) -> Iterator[Metric]:
    yield _gauge("up", "1 while the loop runs.", {(): float(s["phase"] == "running")})
    yield _gauge("heartbeat_seconds", "Since the loop's thread last moved.", {(): s["heartbeat_seconds"]})
    yield _gauge("started_timestamp_seconds", "When the run started.", {(): s["started_at"]})
