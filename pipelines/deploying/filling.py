"""States filled from the mirrors, those that read each other in order, the others side by side where the engine can."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from compiler.ir.relation import State, walk
from compiler.maintain.kept import Kept
from connectors.engine import Engine


def fill(engine: Engine, states: list[Kept], say: Callable[[str], None]) -> dict[str, Exception]:
    """Create the states that are not there yet; gives what failed by the state's name, with the states that read it."""
    have = engine.states()
    failed: dict[str, Exception] = {}
    with ThreadPoolExecutor(engine.threads) as pool:
        for ready in in_order(s for s in states if s.name not in have):
            jobs = {}
            for s in ready:
                if lost := _reads(s) & failed.keys():
                    failed[s.name] = failed[min(lost)]
                    continue
                say(f"fill {s.name}")
                jobs[s.name] = pool.submit(engine.create_state, s)
            for name, job in jobs.items():
                if (error := job.exception()) is not None:
                    if not isinstance(error, Exception):
                        raise error
                    failed[name] = error
    return failed


def in_order(states: Iterable[Kept]) -> Iterator[list[Kept]]:
    """Those that read none of the others, then those that read these alone, and so on."""
    left = list(states)
    while left:
        waiting = {s.name for s in left}
        ready = [s for s in left if not _reads(s) & waiting]
        left = [s for s in left if s not in ready]
        yield ready


def _reads(s: Kept) -> set[str]:
    return {n.name for n in walk(s.definition) if isinstance(n, State)} - {s.name}
