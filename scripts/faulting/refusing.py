"""What follows a fault that the stream cannot mend: a refusal with a reason, nothing called fresh, and a way out."""

from __future__ import annotations

import time

from faulting.project import Run, Unreadable
from faulting.scene import Scene
from faulting.watching import GRACE, judge_status

REFUSES = 60.0  # seconds in which a running pipeline has to see that its source is another


def refuses(s: Scene, after: str, run: Run | None = None) -> None:
    """The running pipeline, if there is one, and the next; then `deploy --resync`."""
    time.sleep(GRACE + 0.2)
    went_on = run is not None and _goes_on(s, after, run)
    got = s.project.do("run", "--once")
    if got.code == 0:
        _read(s, after)
    elif went_on:
        s.row.fail(f"after {after}: run goes on for {REFUSES:.0f} s, and the next one is refused")
    elif not got.refused:
        s.row.fail(f"after {after}: not refused with a reason: {got.reason}")
    judge_status(s.project, s.load, s.row, f"after {after}")
    s.resync(after)


def _read(s: Scene, after: str) -> None:
    """What no batch has met is for readers to meet: they are refused, or have what is right."""
    try:
        if s.equal(f"{after} that was not refused"):
            s.row.notes.append(f"after {after}: not refused, and all is equal: nothing was lost")
        else:
            s.row.fail(f"after {after}: run --once exits 0, and the answer is wrong")
    except Unreadable as e:
        if e.told.refused and "--resync" in e.told.text:
            s.row.notes.append(f"after {after}: no batch has read it, and who reads is refused, with the way out")
        else:
            s.row.fail(f"after {after}: not refused with a reason: {e.told.reason}")


def _goes_on(s: Scene, after: str, run: Run) -> bool:
    """Whether the running pipeline does not end by itself."""
    deadline = time.monotonic() + REFUSES
    while not run.wait(3) and time.monotonic() < deadline:
        judge_status(s.project, s.load, s.row, f"after {after}, run is on")
    by_itself = run.ended
    got = run.end()
    if by_itself and not got.refused:
        s.row.fail(f"after {after}: run ended with {got.code} and no reason: {got.reason}")
    return not by_itself
