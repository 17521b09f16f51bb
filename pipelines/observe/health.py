"""Whether a run lives, and whether what it keeps may be relied on; each with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from pipelines.observe.snapshot import Snapshot


class Reason(TypedDict):
    code: str
    message: str


@dataclass(frozen=True)
class HealthLimits:
    """`heartbeat`: seconds in which the loop turns, also with its longest batch; `stale`: seconds behind at most."""

    heartbeat: float = 300.0
    stale: float = 60.0


def unhealthy(s: Snapshot, limits: HealthLimits) -> list[Reason]:
    """Why the process should be started again; empty where it lives. A source that is away is no reason."""
    if s["phase"] == "stopped":
        return [{"code": "stopped", "message": f"the pipeline stopped: {s['reason']}"}]
    if s["heartbeat_seconds"] > limits.heartbeat:
        return [{"code": "stuck", "message": f"the loop has not moved for {s['heartbeat_seconds']:.0f} s"}]
    return []


def unready(s: Snapshot, limits: HealthLimits) -> list[Reason]:
    """Why readers should not rely on the views; empty where all of them are there and fresh."""
    found = unhealthy(s, limits)
    if s["phase"] == "starting":
        found.append({"code": "starting", "message": "the pipeline has not started yet"})
    elif s["source"]["state"] == "away":
        away = s["source"]
        found.append(
            {"code": "source_away", "message": f"the source is away {away['seconds']:.0f} s: {away['reason']}"}
        )
    for v in s["views"]:
        if v["set_aside"]:
            found.append({"code": "set_aside", "message": f'view "{v["view"]}" is set aside: {v["set_aside"]}'})
    for name, e in s["engines"].items():
        if e["error"]:
            found.append({"code": "engine_failed", "message": f"{name}: {e['error']}"})
        if e["fresh_at"] is None:
            found.append({"code": "catching_up", "message": f"{name} has not yet held all that the source had"})
        elif e["stale_seconds"] > limits.stale:
            found.append({"code": "stale", "message": f"{name} is {e['stale_seconds']:.0f} s behind"})
    return found
