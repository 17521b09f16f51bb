"""Inject faults into a running Tidemark, and count what was lost, doubled, half shown and called fresh."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from connectors.failpoints import NAMES
from faulting import kinds, page
from faulting.result import Row, table
from faulting.scene import Bench, Failed, Options, bench
from faulting.soak import soak

MOMENTS = {"duckdb": 300, "local": 300, "mixed": 300, "spark": 60}


def arguments() -> argparse.Namespace:
    """What was asked for; a name that is not known is a usage error."""
    p = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    p.add_argument(
        "--engine",
        choices=tuple(MOMENTS),
        default="duckdb",
        help="Spark by the driver: local; with large mirrors in Delta: mixed; by executors: spark",
    )
    p.add_argument("--moments", type=int, help="random moments of SIGKILL (default 300; 60 on Spark)")
    p.add_argument("--trials", type=int, help="trials of failpoints, drawn from all (default all; 8 with --quick)")
    p.add_argument("--points", default="", metavar="PART", help="failpoints of these parts alone, as capture,spark")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--quick", action="store_true", help="a couple of minutes")
    p.add_argument("--only", default="", metavar="NAME", help=f"one of: {', '.join(kinds.BY_NAME)} (several by commas)")
    p.add_argument(
        "--soak", type=float, nargs="?", const=60.0, metavar="MINUTES", help="a mixed load instead (default 60 minutes)"
    )
    p.add_argument("--page", type=Path, metavar="FILE", help="write the tables there, docs/faults.md")
    a = p.parse_args()
    unknown = {n for n in a.only.split(",") if n} - set(kinds.BY_NAME)
    if parts := {n for n in a.points.split(",") if n} - {n.split(".")[0] for n in NAMES}:
        p.error(f"--points: no failpoint's name begins with {sorted(parts)[0]!r}")
    if unknown:
        p.error(f"--only: {sorted(unknown)[0]!r} is none of {', '.join(kinds.BY_NAME)}")
    a.trials = a.trials if a.trials is not None else 8 if a.quick else 0
    a.moments = a.moments if a.moments is not None else 6 if a.quick else MOMENTS[a.engine]
    return a


def show(r: Row) -> None:
    for label, lines in (("failed", r.failures), ("note", r.notes), ("not reached", r.unreached)):
        for line in lines[:40]:
            print(f"  {label}: {line}", flush=True)


def sweep(b: Bench) -> list[str]:
    """Every kind that was asked for."""
    wanted = [n for n in b.options.only.split(",") if n] or [
        n for n in kinds.BY_NAME if not b.options.quick or n in kinds.QUICK
    ]
    for name in wanted:
        begun, before = time.monotonic(), len(b.rows)
        print(f"{name}:", flush=True)
        try:
            kinds.BY_NAME[name](b)
        except Failed:  # its row tells
            pass
        except Exception as e:  # one kind's trouble is not the others'
            b.rows.append(Row(name))
            b.rows[-1].fail(f"{type(e).__name__}: {str(e)[:200]}")
        for r in b.rows[before:]:
            show(r)
        print(f"{name}: {time.monotonic() - begun:.0f} s", flush=True)
    return []


def main() -> int:
    """Runs the sweep or the soak and prints its table; gives the exit code, 1 where anything failed."""
    a = arguments()
    for s in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, signal.default_int_handler)  # as an interrupt: what was started is stopped
    options = Options(a.engine, a.moments, a.seed, a.quick, a.trials, a.only, a.points)
    begun, measured = time.monotonic(), list[str]()
    whole = False
    with bench(options) as b, suppress(Failed, KeyboardInterrupt):  # interrupted, it shows what it has found so far
        measured = soak(b, a.soak) if a.soak else sweep(b)
        whole = True
    minutes, rows = (time.monotonic() - begun) / 60, b.rows
    if a.soak:
        show(rows[0])
    print("\n".join([*table(rows), *measured]), flush=True)
    if not whole:
        print("ended before its end; no page is written")
    elif a.page is not None:
        page.write(a.page, rows, options, minutes, measured)
    return 1 if not whole or any(r.red for r in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
