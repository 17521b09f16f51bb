"""How fast this machine scans."""

from __future__ import annotations

import functools
import statistics
import time

from connectors.duckdb.session import scratch

ROWS, KEYS, TIMES = 1_000_000, 1_000, 3


@functools.cache
def seconds_a_row() -> float:
    """What a row of a mirror costs where some keys are looked for among all of them; measured, in some 50 ms."""
    con, took = scratch(), []
    con.execute(f"CREATE TABLE t AS SELECT i AS k, i % 7 AS v FROM range({ROWS}) AS r(i)")
    for _ in range(TIMES):
        begun = time.perf_counter()
        con.execute(
            f"SELECT sum(v) FROM t WHERE k IN (SELECT (hash(i) % {ROWS})::BIGINT FROM range({KEYS}) AS r(i))"
        ).fetchall()
        took.append(time.perf_counter() - begun)
    con.close()
    return statistics.median(took) / ROWS
