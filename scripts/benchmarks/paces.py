"""Paces against one pace: TPC-H queries that undo early work, over a stream of all rows with updates and deletes.

After "Thrifty Query Execution via Incrementability", section 5: the tables arrive evenly in a period, at whose end the
view is finished. The work left then may be a share of what a single batch takes; what is measured is the work that is
done beyond that batch's. Landing is the same for all, and not counted.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.compiling import views
from benchmarks.data import generate, mirrored
from benchmarks.driven import InFile, compare
from benchmarks.paces_stream import LARGER, Stream
from compiler.catalog import Catalog, Table, read_schema
from compiler.ir.relation import State, walk
from compiler.maintain.cohort import Cohort
from compiler.maintain.fetch import fetched
from compiler.maintain.flush import flush
from compiler.maintain.kept import own
from compiler.maintain.lag import Lag
from compiler.maintain.pace.cardinality import Amounts
from compiler.maintain.pace.cost import costs
from compiler.maintain.pace.paces import LEVELS, Pace, View, Work, choose, simulate, uniform
from compiler.maintain.paced import Path as Way
from compiler.maintain.paced import paths, whole
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from compiler.parse import parse_query
from compiler.view import compile_view
from connectors.duckdb.engine import DuckDBEngine
from connectors.paced_states import Measured, Taking
from connectors.spark.local.engine import LocalEngine
from connectors.staging import Staged
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from pipelines.pacing.planning import Left, corrected, curves, sizes

CASE = Path(__file__).parents[2] / "tests" / "scenarios" / "tpch"
EVERY = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
THERE = ("region", "nation")  # from the start
QUERIES = ("q02", "q11", "q13", "q15", "q16", "q17", "q18", "q20", "q21", "q22")
MORE = {
    "agg_join": "SELECT avg(a.price) AS price FROM customer c, (SELECT o_custkey, avg(o_totalprice) AS price FROM "
    "orders GROUP BY o_custkey) a WHERE c.c_custkey = a.o_custkey",
    "outer": "SELECT count(*) AS n FROM part LEFT JOIN partsupp ON p_partkey = ps_partkey JOIN lineitem ON "
    "p_partkey = l_partkey JOIN orders ON l_orderkey = o_orderkey",
}
SHARES = (0.5, 0.2, 0.1, 0.05, 0.02)
AGAIN = 4  # periods after one that left more than it may, each planned by what those before took
WARM = Pace(10, {})  # paces of the run that measures what paths take; inner ones are twice as fast


@dataclass(frozen=True)
class Ran:
    """Seconds of all that was taken, and of what was taken at the end."""

    total: float
    final: float


@dataclass(frozen=True)
class Period:
    """Its paces, what was measured, what was expected, and the seconds that planning took. `promised`: whether by what
    was known these leave no more than they may; where not, no paces do."""

    pace: Pace
    ran: Ran
    estimated: Work
    planning: float
    promised: bool


def catalog() -> Catalog:
    """TPC-H's, with varchar in place of char: DuckDB, which the views are compared with, does not pad."""
    return read_schema(re.sub(r"\bchar\(", "varchar(", (CASE / "schema.sql").read_text()))


def queries() -> dict[str, str]:
    known = views((CASE / "views.sql").read_text())
    return {q: known[q] for q in QUERIES} | MORE


class Playing(InFile):
    """A view over tables that fill, in a warehouse of its own; on Spark with all Local."""

    def __init__(self, folder: Path, stream: Stream, plan: ViewPlan, engine: str) -> None:
        super().__init__(Printer(DUCKDB))
        self.engine = (
            DuckDBEngine(folder / "paces.duckdb", self.printer)
            if engine == DUCKDB.name
            else LocalEngine(folder / "delta", self.printer, [], [])
        )
        self.stream, self.plan, self.lsn = stream, plan, 1
        self.tables = mirrored((t for n, t in stream.tables.items() if f"public.{n}" in plan.tables), [plan])
        self.takings: dict[tuple[str, frozenset[str], frozenset[str]], Taking] = {}
        for t in self.tables.values():
            self.engine.create_mirror(t)
        self.deploy([plan])
        self._apply(self._arrived(-1.0, 2.0, [t for n, t in self.tables.items() if n in THERE]))
        self.engine.paced.finish(self.all(), self.kept(), "asked", {plan.view: 0.0})

    def kept(self) -> list[str]:
        return [s.name for s in own(self.plan.states)]

    def all(self) -> list[Taking]:
        return [self.taking(state, sources) for state, sources in whole(self.plan.states)]

    def taking(self, state: str, sources: frozenset[str]) -> Taking:
        large = self.engine.paced.large()  # mirrors grow: what is large changes
        if (state, sources, large) not in self.takings:

            @cache
            def without(nothing: frozenset[str]) -> Prepared:
                p = flush(self.plan.states, state, sources, nothing)
                return self.printer.prepare(fetched(p, lambda t: t.split(".")[-1] in large))

            ways = tuple(Way(x, state) for x in sorted(sources))
            self.takings[state, sources, large] = Taking(ways, without(frozenset()), without)
        return self.takings[state, sources, large]

    def _apply(self, staged: list[Staged]) -> None:
        self.lsn += 1
        self.engine.apply(staged, self.lsn, self.programs)
        self.engine.compact(list(self.tables.values()))
        self.engine.settle()  # what is in Delta follows, as it does between batches

    def _arrived(self, since: float, until: float, of: Iterable[Table]) -> list[Staged]:
        return [s for t in of if (s := self.stream.between(t, since, until, self.lsn)) is not None]

    def play(self, pace: Pace, probed: bool = False) -> Ran:
        """A period: what arrives is landed at each moment at which something is taken. `probed`: the view is finished
        once more, soon after it was before the end, as the pipeline does to see how little may be left."""
        probe = {1 - 1 / pace.refresh + 1 / LEVELS[-1]} if probed else set()
        moments = sorted({(i + 1) / n for n in {pace.refresh, *pace.inner.values()} for i in range(n)} | probe)
        total, took, before = 0.0, 0.0, -1.0
        inner = [w for w in paths(self.plan.states) if w in pace.inner]
        for i, now in enumerate(moments):
            until = now if i < len(moments) - 1 else 2.0
            self._apply(self._arrived(before, until, [t for n, t in self.tables.items() if n not in THERE]))
            begun = time.perf_counter()
            if now in probe or _due(now, before, pace.refresh):
                self.engine.paced.finish(self.all(), self.kept(), "pace", {self.plan.view: 0.0})
            elif due := [w for w in inner if _due(now, before, pace.inner[w])]:
                self.engine.paced.take([self.taking(w.state, frozenset([w.source])) for w in due])
            took = time.perf_counter() - begun
            total, before = total + took, now
        return Ran(total, took)

    def check(self, sql: str) -> None:
        con = self.engine.con
        con.execute("SET search_path = 'base,main'")
        con.execute("SET TimeZone = 'UTC'")
        query = re.sub(r"\bdate '", "DATE '", sql)
        again = f"({query})"
        found = compare(con, f'main."{self.plan.view}"', again)
        con.execute("RESET search_path")
        if found:
            raise SystemExit(f"{self.plan.view} differs from its query in {found} rows")

    def close(self) -> None:
        self.engine.close()


def _due(now: float, before: float, pace: int) -> bool:
    return int(now * pace + 1e-9) > int(max(before, 0.0) * pace + 1e-9)


def run(
    engine: str,
    scale: float,
    some: list[str],
    shares: list[float],
    work: Path,
    keep: Callable[[dict[str, Any]], None],
    kept: dict[str, Any],
    say: Callable[[str], None],
) -> None:
    """Of each query, or of `some`, and each share: seconds beyond a batch's and at the end, with paces and with one.
    After each query all are kept, with those that were kept before of this engine and scale."""
    schema = catalog()
    same = kept.get("engine") == engine and kept.get("scale") == scale
    cells = {(c["query"], c["share"]): c for c in kept["cells"]} if same else {}
    plans = {
        q: compile_view(q, parse_query(text), schema, lag=Lag(3600.0))
        for q, text in queries().items()
        if not some or q in some
    }
    for of, larger in ((LARGER, True), (1, False)):
        those = [p for p in plans.values() if ("public.lineitem" not in p.tables) == larger]
        read = [n for n in EVERY if any(f"public.{n}" in p.tables for p in those)]
        if not read:
            continue
        stream = Stream(generate(work, of * scale, EVERY), {n: schema.tables["public", n] for n in read})
        arriving = {f"public.{n}": stream.rows(n) for n in read if n not in THERE}
        for plan in those:
            sql = queries()[plan.view]
            for c in _query(plan, sql, arriving, shares, partial(_playing, engine, stream, plan), work, say):
                cells[plan.view, c["share"]] = c | {"scale": of * scale}
            order = sorted(cells, key=lambda at: (list(queries()).index(at[0]), -at[1]))
            keep({"engine": engine, "scale": scale, "cells": [cells[at] for at in order]})
        stream.con.close()


def _playing(engine: str, stream: Stream, plan: ViewPlan, folder: Path) -> Playing:
    return Playing(folder, stream, plan, engine)


def _query(
    plan: ViewPlan,
    sql: str,
    arriving: Mapping[str, Amounts],
    shares: list[float],
    playing: Callable[[Path], Playing],
    work: Path,
    say: Callable[[str], None],
) -> list[dict[str, Any]]:
    seen = {n.name for n in walk(plan.top) if isinstance(n, State)}
    inner = frozenset(p for p in paths(plan.states) if p.state not in seen)
    rows = {t: a.rows for t, a in arriving.items()}

    beside, probed = 0.0, False

    def played(pace: Pace, probing: bool = False) -> tuple[Ran, list[Measured], Any]:
        nonlocal beside
        with tempfile.TemporaryDirectory(dir=work, prefix="paces-") as folder:
            target = playing(Path(folder))
            try:
                got = target.play(pace, probing)
                target.check(sql)
                beside = target.engine.paced.beside_programs()
                return got, target.engine.paced.measured(), sizes(target.engine, Cohort((plan,)))
            finally:
                target.close()

    _, known, size = played(Pace(WARM.refresh, dict.fromkeys(inner, 2 * WARM.refresh)))
    batch, alone, _ = played(Pace(1, dict.fromkeys(inner, 1)))
    known = [*alone, *known]  # by either kind of paces, for each share
    estimated = costs(plan.states, size, arriving)

    def periods(bound: float, plan_for: Callable[[View, float], tuple[int, Mapping[Way, int]]]) -> Period:
        """The first that leaves no more than the bound, or the last: each is planned by what is known by then. One more
        where no paces were known that leave as little."""
        nonlocal known, probed
        out = None
        for _ in range(2 + AGAIN):
            known_by_now = corrected(estimated, known)
            view = View(known_by_now, inner, rows, curves=curves(estimated, known), beside=beside)
            off = Left(out.pace, out.ran.final).off(view) if out is not None else 1.0
            began = time.perf_counter()
            pace = Pace(*plan_for(view, bound / off))
            planning = time.perf_counter() - began
            hopeless = out is not None and not out.promised
            expected = simulate(view, pace.refresh, pace.inner)
            promised = expected.final <= bound / off * 1.000001
            probing = not promised and not probed
            ran, more, _ = played(pace, probing)
            known, probed = known + more, probed or probing
            if probing:
                continue
            out = Period(pace, ran, expected, planning, promised)
            if ran.final <= bound or (hopeless and not promised):
                break
        assert out is not None
        return out

    def ours(view: View, bound: float) -> tuple[int, Mapping[Way, int]]:
        chosen = choose(view, bound)
        return chosen.refresh, chosen.inner

    def one(view: View, bound: float) -> tuple[int, Mapping[Way, int]]:
        found = uniform(view, bound)
        k = found[0] if found is not None else LEVELS[-1]
        return k, dict.fromkeys(inner, k)

    out = []
    for share in shares:
        bound = share * batch.final
        chosen, alike = periods(bound, ours), periods(bound, one)
        cell = {
            "query": plan.view,
            "share": share,
            "batch": batch.final,
            "refresh": chosen.pace.refresh,
            "inner": sorted(chosen.pace.inner.values()),
            "total": chosen.ran.total,
            "final": chosen.ran.final,
            "estimated": [chosen.estimated.total, chosen.estimated.final],
            "one": alike.pace.refresh,
            "one_estimated": [alike.estimated.total, alike.estimated.final],
            "one_total": alike.ran.total,
            "one_final": alike.ran.final,
            "planning": chosen.planning,
            "promised": chosen.promised,
            "one_promised": alike.promised,
        }
        out.append(cell)
        say(
            f"{plan.view}, {share:.0%} of {batch.final:.2f} s: paces {cell['refresh']} and {cell['inner']}, "
            f"{chosen.ran.total - batch.total:+.2f} s more, {chosen.ran.final / batch.final:.1%} left; one pace "
            f"{cell['one']}: {alike.ran.total - batch.total:+.2f} s, {alike.ran.final / batch.final:.1%} left; planned "
            f"in {chosen.planning * 1e3:.0f} ms"
        )
        if not chosen.promised and not alike.promised:  # nor do any leave less
            break
    return out
