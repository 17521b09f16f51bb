"""A batch in two phases: every change computed and stored under the batch's LSN, then each merged once."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import wait
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, assert_never

from compiler.catalog import Table
from compiler.ir.relation import Relation, Scan, Temp, walk
from compiler.maintain.change import Add, AddRows, Append, Change, Clear, Replace, signed, stored
from compiler.maintain.program import Program
from compiler.spelling.spark import type_name
from connectors.engine import Again, FrontierMoved, Programs
from connectors.failpoints import FailpointReached, reach
from connectors.postgres.origin import LastCommit
from connectors.spark import mirror
from connectors.spark.landing import typed_events
from connectors.spark.net import Netted, net
from connectors.spark.pending import Manifest
from connectors.spark.recursion import Recursion
from connectors.spark.store import Store
from connectors.staging import Staged

BROADCAST_ROWS = 200_000  # batches up to this size are sent to every worker


class Batches:
    """Lands and maintains."""

    def __init__(self, store: Store, recursion: Recursion) -> None:
        self.store, self.recursion = store, recursion
        self._submit = store.pool.submit
        self.settled = False  # whether what an earlier process left is dealt with
        self.whole = False  # whether a large transaction is to come at once
        self.timings: dict[str, float] = {}  # state → seconds of its jobs in the last batch that touched it

    def frontier(self) -> int:
        """Where the warehouse stands, with what an earlier process has decided."""
        if not self.store.read_only:
            self.finish()
        return self.store.published.pin().lsn

    def apply(
        self,
        staged: list[Staged],
        end: int,
        programs: Programs,
        *,
        start: int | None = None,
        last: LastCommit | None = None,
        more: Iterable[list[Staged]] = (),
        rows: int = 0,
    ) -> int:
        """With `start`, the batch begins there, and FrontierMoved is raised where the engine stands elsewhere."""
        found = self.frontier()  # what an earlier attempt has decided is finished
        if start is not None and start != found:
            raise FrontierMoved("spark", start, found)
        if end <= found:
            return 0
        if rows:
            return self._apply_large(staged, more, found, end, programs, last)
        if not staged:
            self.store.published.publish((), end, last)
            return 0
        rows = self.store.healing.run("a batch", lambda: self._prepare(staged, found, end, programs, last))
        self.finish()
        return rows

    def _apply_large(
        self,
        staged: list[Staged],
        more: Iterable[list[Staged]],
        start: int,
        end: int,
        programs: Programs,
        last: LastCommit | None,
    ) -> int:
        """A transaction that did not fit into memory: what it changes is put together before it is landed."""
        try:
            with net(self.store.scratch / "net", staged, more) as found:
                files = {n.staged.table.mirror: n for n in found}
                every = [n.staged for n in found]
                if not every:
                    self.store.published.publish((), end, last)
                    return 0
                rows = self.store.healing.run(
                    "a batch", lambda: self._prepare(every, start, end, programs, last, files)
                )
        except Again:
            self.whole = True  # its parts do not go together
            raise
        self.whole = False
        self.finish()
        return rows

    def _prepare(
        self,
        staged: list[Staged],
        start: int,
        end: int,
        programs: Programs,
        last: LastCommit | None,
        netted: Mapping[str, Netted] = MappingProxyType({}),
    ) -> int:
        """Phase one. Tables are not touched, so that it can be begun again. `netted`: changes that are in files, by
        mirror."""
        session = self.store.paced(self.store.spark)
        folder = self.store.pending.begin(end)
        rows, batches = 0, {}
        jobs = [self._submit(self._land, s, folder, session, netted.get(s.table.mirror)) for s in staged]
        wait(jobs)
        for s, job in zip(staged, jobs, strict=True):
            n = job.result()
            if n:
                rows += n
                batches[f"{s.table.schema}.{s.table.name}"] = f"batch_{s.table.mirror}"
        reach("spark.landed")
        merges: list[dict[str, str]] = []
        if batches:
            merges = self._compute(
                programs(frozenset(batches)).program, batches, folder, session, rows < BROADCAST_ROWS
            )
        reach("spark.computed")
        self.store.pending.decide(folder, Manifest(end, start, batches, merges, last))
        return rows

    def _land(self, s: Staged, folder: Path, session: Any, netted: Netted | None) -> int:
        """Store the batch's rows of one table; old images come from the mirror where the stream has none."""
        t = s.table
        cols = mirror.columns(t)
        events = netted.path if netted is not None else folder / f"events_{t.mirror}.parquet"
        n = netted.count if netted is not None else typed_events(s, events)
        target, name = folder / f"batch_{t.mirror}", f"batch_{t.mirror}"
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in t.columns)
        self.store.views([Scan(f"{t.schema}.{t.name}", (), t.key)], {}, session)
        old = f"SELECT {cols}, {'-1' if t.key else '-_weight'} AS _weight, 0 AS _lsn FROM `before_rows__{t.mirror}`"
        if not s.keyed:
            text = f"SELECT {casts}, _weight, _lsn FROM parquet.`{events}`"
            text = f"{old} UNION ALL {text}" if s.truncated else text
        else:
            new = f"SELECT {casts}, 1 AS _weight, _lsn FROM parquet.`{events}` WHERE _present"
            if s.inserts_only and not s.truncated:
                text = new
            else:
                on = " AND ".join(
                    f"m.{mirror.q(k)} = CAST(l._key_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
                    for i, k in enumerate(t.identity_key)
                )
                if not s.truncated:
                    old = (
                        f"SELECT {mirror.columns(t, 'm.')}, -1 AS _weight, l._lsn FROM `before_rows__{t.mirror}` m "
                        f"JOIN parquet.`{events}` l ON {on}"
                    )
                if s.unchanged:
                    new = self._with_unchanged(s, events)
                text = f"{old} UNION ALL {new}"
        if n == 0 and not s.truncated:
            return 0
        self.store.sql(
            f"SELECT {cols}, CAST(_weight AS BIGINT) AS _weight, CAST(_lsn AS BIGINT) AS _lsn FROM ({text})", session
        ).write.mode("overwrite").parquet(str(target))
        session.read.parquet(str(target)).createOrReplaceTempView(mirror.q(name))
        return max(n, 1)

    def _with_unchanged(self, s: Staged, events: Path) -> str:
        t = s.table
        picks = []
        for i, c in enumerate(t.columns):
            value = f"CAST(l.{mirror.q(c.name)} AS {type_name(c.type)})"
            if i in s.unchanged:
                value = f"CASE WHEN l._u{i} THEN o.{mirror.q(c.name)} ELSE {value} END"
            picks.append(f"{value} AS {mirror.q(c.name)}")
        back = " AND ".join(
            f"o.{mirror.q(k)} = CAST(l._from_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
            for i, k in enumerate(t.identity_key)
        )
        return (
            f"SELECT {', '.join(picks)}, 1 AS _weight, l._lsn FROM parquet.`{events}` l LEFT JOIN "
            f"`before_rows__{t.mirror}` o "
            f"ON {back} WHERE l._present"
        )

    def _compute(
        self, p: Program, batches: dict[str, str], folder: Path, session: Any, small: bool
    ) -> list[dict[str, str]]:
        """Phase one: every step stored as Parquet, independent ones side by side. Gives the merges of phase two."""
        steps: list[tuple[str, Relation, bool]] = [(s.name, s.relation, s.signed) for s in p.steps]
        owners = {s.name: s.state for s in p.steps}
        merges: list[dict[str, str]] = []
        for c in p.changes:
            name = _stored_as(c)
            if name is None:
                merges.append({"state": c.state.name, "sql": self.store.printer.merge(c, folder)})
                continue
            if stored(c) is None:
                steps.append((name, c.source, signed(c)))
                owners[name] = c.state.name
            merges.append({"state": c.state.name, "sql": self.store.printer.merge(c, folder / name)})
        self.store.views([r for _, r, _ in steps], batches, session)
        left = {n: (r, signed) for n, r, signed in steps}
        while left:
            ready = [
                n for n, (r, _) in left.items() if not any(isinstance(x, Temp) and x.name in left for x in walk(r))
            ]
            jobs = [self._submit(self._write_step, n, *left[n], folder / n, session, owners[n], small) for n in ready]
            wait(jobs)
            for j in jobs:
                j.result()
            for n in ready:
                session.read.parquet(str(folder / n)).createOrReplaceTempView(mirror.q(n))
                del left[n]
        return merges

    def _write_step(
        self, name: str, r: Relation, signed: bool, target: Path, session: Any, state: str, small: bool
    ) -> None:
        text = self.store.printer.query(self.recursion.unrolled(r, target.parent, session), signed, small)
        casts = [(c.name, c.type) for c in r.schema]
        items = ", ".join(f"CAST({mirror.q(n)} AS {type_name(t)}) AS {mirror.q(n)}" for n, t in casts)
        items += (", " if items and signed else "") + ("CAST(_weight AS BIGINT) AS _weight" if signed else "")
        begun = time.perf_counter()
        try:
            session.sql(f"SELECT {items} FROM ({text})").coalesce(1).write.mode("overwrite").parquet(str(target))
            self.timings[state] = time.perf_counter() - begun
        except Exception as e:
            raise self.store.failed(f'step "{name}"', e, state) from e

    def finish(self) -> None:
        """Phase two of whatever phase one has completed, then the frontier; harmless to repeat."""
        pin = self.store.published.pin()
        if not self.settled:
            self.store.published.check(pin)
        at = pin.lsn
        for folder, manifest in self.store.pending.decided(at):
            if manifest.start is not None and manifest.start != at:
                raise FrontierMoved("spark", manifest.start, at)
            self.store.healing.run("a batch", partial(self._take, manifest, folder))
            reach("spark.committed")
            self.store.published.publish(tables_of(manifest, self.store.tables), manifest.lsn, manifest.last)
            reach("spark.frontier")
            shutil.rmtree(folder)
            reach("spark.cleared")
            at = manifest.lsn
        if not self.settled:
            self.store.published.settle()
            self.settled = True

    def _take(self, manifest: Manifest, folder: Path) -> None:

        def append(item: tuple[str, str]) -> None:
            name, stored = item
            t = self.store.tables[name]
            cols = mirror.columns(t)
            self._tagged(
                f"INSERT INTO {mirror.path_name(self.store.mirror(t))} SELECT {cols}, _weight, _lsn, TRUE FROM "
                f"parquet.`{folder / stored}`",
                f"mirror/{t.mirror}",
                manifest.lsn,
            )

        jobs = [self._submit(append, x) for x in manifest.tables.items()]
        jobs += [self._submit(self._tagged, m["sql"], f"state/{m['state']}", manifest.lsn) for m in manifest.merges]
        wait(jobs)
        for j in jobs:
            j.result()

    def _tagged(self, text: str, application: str, lsn: int) -> None:
        """One Delta commit that carries (application, LSN): Delta skips it when that LSN is already there."""
        state = application.removeprefix("state/")
        try:
            with self.store.driver.beside() as session:
                self.store.paced(session)
                session.conf.set("spark.databricks.delta.write.txnAppId", f"tidemark/{application}")
                session.conf.set("spark.databricks.delta.write.txnVersion", str(lsn))
                begun = time.perf_counter()
                session.sql(text)
                reach("spark.commit")
                self.timings[state] = self.timings.get(state, 0.0) + time.perf_counter() - begun
        except FailpointReached:
            raise
        except Exception as e:
            raise self.store.failed(f"the commit to {application}", e, state) from e


def tables_of(manifest: Manifest, tables: dict[str, Table]) -> list[str]:
    """The Delta tables that a batch changes."""
    changed = [f"mirror/{tables[name].mirror}" for name in manifest.tables]
    return changed + [f"state/{m['state']}" for m in manifest.merges]


def _stored_as(c: Change) -> str | None:
    """Under which name a batch stores what a change takes; None where that is nothing."""
    match c:
        case Clear():
            return None
        case Add() | AddRows() | Append() | Replace():
            return step.name if (step := stored(c)) is not None else f"change_{c.state.name}"
    assert_never(c)
