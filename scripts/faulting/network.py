"""The way to the source stalls, is cut, refuses and comes back: so does `run`, which says how stale it is."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from enum import Enum
from functools import partial

from faulting.proxy import Proxy
from faulting.scene import Bench, Scene
from faulting.watching import Watching, judge_status

BACK = {"duckdb": 90.0, "local": 90.0, "spark": 240.0}  # seconds in which a pipeline has caught up after a fault


class Fault(Enum):
    STALL = "stall"
    CUT = "cut"
    REFUSE = "refuse"
    CUT_AND_REFUSE = "cut and refuse"


def strike(proxy: Proxy, fault: Fault, seconds: float) -> None:
    if fault in (Fault.CUT, Fault.CUT_AND_REFUSE):
        proxy.cut()
        time.sleep(0.3)
    if fault is not Fault.CUT:
        proxy.mode = "stall" if fault is Fault.STALL else "refuse"
        time.sleep(seconds)
        proxy.mode = "pass"


def seconds(chance: random.Random, fault: Fault, n: int, quick: bool) -> float:
    """One stall is longer than any time-out of ours; the others are of seconds."""
    if fault is Fault.STALL and n == 0 and not quick:
        return 75.0
    return chance.uniform(1, 6 if quick else 15)


def network(fault: Fault, bench: Bench) -> None:
    with Proxy(bench.server.port) as proxy, bench.scene(f"network: {fault.value}", proxy=proxy.port) as s:
        chance = bench.chance(s.row.kind)
        faults = 1 if bench.options.quick else 6 if bench.engine != "spark" else 3
        through(
            s, [partial(strike, proxy, fault, seconds(chance, fault, n, bench.options.quick)) for n in range(faults)]
        )


def through(s: Scene, faults: list[Callable[[], None]]) -> None:
    """`run` lives through every fault, and has caught up after each; a new one is started where it does not."""
    run = s.start()
    with Watching(s.project, s.load, s.row, status=2.0):
        for n, fault in enumerate(faults):
            with s.load.working():
                time.sleep(1)
                fault()
                s.row.injected += 1
                time.sleep(2)
            if not s.caught_up(run, BACK[s.project.engine]):
                got = run.end()
                s.row.fail(
                    f"fault {n}: run ended with {got.code}: {got.reason}"
                    if got.code
                    else f"fault {n}: run does not catch up: {got.reason}"
                )
                judge_status(s.project, s.load, s.row)
                run = s.start()
    got = run.end()
    if got.code != 0:
        s.row.fail(f"run ended with {got.code}: {got.reason}")
    s.recover(f"{len(faults)} faults")
