"""What paces a view has, in words and numbers: what was planned, and what came of it."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from compiler.maintain.cohort import Cohort
from compiler.maintain.paced import paths
from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine
from connectors.paced_states import whatever_waited


def expected(plan: ViewPlan) -> dict[str, Any]:
    """What the view itself says: its lag, and its paths; those of `inner` are taken one by one."""
    assert plan.lag is not None
    return {
        "target_lag_seconds": plan.lag.seconds,
        "final_work": plan.lag.final_work,
        "paths": [{"from": p.source, "into": p.state, "inner": p.state not in plan.shown} for p in paths(plan.states)],
    }


def progress(on: Engine, plan: ViewPlan, cohort: Cohort) -> dict[str, Any]:
    """Of a view on its engine: `together`, the others of its cohort; `planned`, None where nothing is yet; `taken`,
    what paths took; `finished`, how often, with the median of rows and seconds, and the share that kept what was
    promised."""
    if plan.lag is None:
        return {}
    note = _planned(plan, on.paced.noted().get(plan.view))
    own = {s.name for s in plan.states}
    done = [r for r in on.paced.refreshes() if r.view == plan.view]
    bound = [r for r in done if r.promised]
    return {
        "together": [v for v in cohort.views if v != plan.view],
        "planned": note,
        "taken": [
            {
                "from": [p.source for p in m.paths],
                "into": m.paths[0].state,
                "rows": m.rows / m.times,
                "seconds": m.seconds / m.times,
            }
            for m in whatever_waited(on.paced.measured())
            if m.paths[0].state in own
        ],
        "finished": {
            "times": len(done),
            "rows": median(r.waited for r in done),
            "seconds": median(r.seconds for r in done),
            "kept": sum(r.seconds <= r.promised for r in bound) / len(bound) if bound else None,
        }
        if done
        else None,
    }


def _planned(plan: ViewPlan, note: str | None) -> dict[str, Any] | None:
    """What was planned; nothing where that was for the view as it was before."""
    found: dict[str, Any] | None = json.loads(note) if note is not None else None
    there = {(p.source, p.state) for p in paths(plan.states)}
    return found if found is not None and {(s, t) for s, t, _ in found["inner"]} <= there else None


def as_text(e: dict[str, Any]) -> list[str]:
    """Lines of `explain`."""
    share = "" if e["final_work"] >= 1 else f"; at most {e['final_work']:.0%} of a recomputation left at any time"
    lines = ["", f"paces: it may lag {e['target_lag_seconds']:g} s{share}"]
    if others := e.get("together"):
        lines.append(f"  shares states with {', '.join(others)}: finished together, as often as one of them has to be")
    plan = e.get("planned")
    inner = {(s, t): k for s, t, k in plan["inner"]} if plan else {}
    took = {(*t["from"], t["into"]): t for t in e.get("taken", ())}
    for p in e["paths"]:
        pace = inner.get((p["from"], p["into"]), plan["refresh"] if plan else 1)
        how = f"{_times(pace)} in this time" if plan else "not planned yet"
        if not p["inner"]:
            how += ", when the view is finished"
        found = took.get((p["from"], p["into"]))
        if found:
            how += _of_late(found)
        lines.append(f"  {p['from']} → {p['into']}: {how}")
    for t in e.get("taken", ()):
        if len(t["from"]) > 1:
            lines.append(f"  {', '.join(t['from'])} → {t['into']}, together{_of_late(t)}")
    if plan:
        one = plan["one_pace_total_seconds"]
        alone = f"; with one pace for all {one:.2f} s in all" if one is not None else ""
        lines.append(
            f"  estimated in this time: {plan['total_seconds']:.2f} s in all, {plan['final_seconds']:.3f} s left at "
            f"most{alone}; recomputed in {plan['recompute_seconds']:.2f} s"
        )
    done = e.get("finished")
    if done:
        kept = "" if done["kept"] is None else f", {done['kept']:.0%} within what was promised"
        lines.append(f"  finished {_times(done['times'])}, {done['rows']:,.0f} rows in {done['seconds']:.3f} s{kept}")
    return lines


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _of_late(taken: dict[str, Any]) -> str:
    return f"; of late {taken['rows']:,.0f} rows in {taken['seconds']:.3f} s"
