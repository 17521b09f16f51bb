"""A batch in two phases: every change computed and stored under the batch's LSN, then each merged once."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import wait
from pathlib import Path
from typing import Any

from compiler.ir.relation import Relation, Scan, Temp, walk
from compiler.maintenance import Program
from compiler.spelling.spark import type_name
from connectors.failpoints import reach
from connectors.spark import mirror
from connectors.spark.landing import typed_events
from connectors.spark.recursion import Recursion
from connectors.staging import Staged

BROADCAST_ROWS = 200_000  # batches up to this size are sent to every worker


class Batches(Recursion):
    """Lands and maintains."""

    def set_aside(self, states: set[str]) -> None:
        for folder in (self.path / "pending").glob("*"):
            if (folder / "DONE").exists():
                manifest = json.loads((folder / "manifest.json").read_text())
                manifest["merges"] = [m for m in manifest["merges"] if m["state"] not in states]
                temp = folder / "manifest.json.new"
                temp.write_text(json.dumps(manifest))
                temp.replace(folder / "manifest.json")
        for name in states:
            self.drop_state(name)

    def apply(self, staged: list[Staged], end: int, program: Callable[[frozenset[str]], Program]) -> int:
        if not staged:
            self.set_frontier(end)
            return 0
        session = self.paced(self.spark)
        folder = self.path / "pending" / str(end)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        rows, batches = 0, {}
        jobs = [self.pool.submit(self._land, s, folder, session) for s in staged]
        wait(jobs)
        for s, job in zip(staged, jobs, strict=True):
            n = job.result()
            if n:
                rows += n
                batches[f"{s.table.schema}.{s.table.name}"] = f"batch_{s.table.mirror}"
        reach("spark.landed")
        manifest: dict[str, Any] = {"lsn": end, "tables": {}, "merges": []}
        for name in batches:
            manifest["tables"][name] = f"batch_{self.tables[name].mirror}"
        if batches:
            manifest["merges"] = self._compute(program(frozenset(batches)), batches, folder, session, rows < BROADCAST_ROWS)
        reach("spark.computed")
        with (folder / "manifest.json").open("w") as f:
            json.dump(manifest, f)
            f.flush()
            os.fsync(f.fileno())
        reach("spark.manifest")
        (folder / "DONE").touch()
        reach("spark.done")
        self._finish_pending()
        return rows

    def _land(self, s: Staged, folder: Path, session: Any) -> int:
        """Store the batch's rows of one table; old images come from the mirror where the stream has none."""
        t = s.table
        cols = mirror.columns(t)
        events = folder / f"events_{t.mirror}.parquet"
        n = typed_events(s, events)
        target, name = folder / f"batch_{t.mirror}", f"batch_{t.mirror}"
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in t.columns)
        self._views([Scan(f"{t.schema}.{t.name}", (), t.key)], {}, session)
        old = f"SELECT {cols}, {'-1' if t.key else '-_weight'} AS _weight, 0 AS _lsn FROM `before_rows__{t.mirror}`"
        if not s.keyed:
            text = f"SELECT {casts}, _weight, _lsn FROM parquet.`{events}`"
            text = f"{old} UNION ALL {text}" if s.truncated else text
        else:
            new = f"SELECT {casts}, 1 AS _weight, _lsn FROM parquet.`{events}` WHERE _present"
            if s.inserts_only and not s.truncated:
                text = new
            else:
                on = " AND ".join(f"m.{mirror.q(k)} = CAST(l._key_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
                                  for i, k in enumerate(t.identity_key))
                if not s.truncated:
                    old = (f"SELECT {mirror.columns(t, 'm.')}, -1 AS _weight, l._lsn FROM `before_rows__{t.mirror}` m "
                           f"JOIN parquet.`{events}` l ON {on}")
                if s.unchanged:
                    new = self._with_unchanged(s, events)
                text = f"{old} UNION ALL {new}"
        if n == 0 and not s.truncated:
            return 0
        self.sql(f"SELECT {cols}, CAST(_weight AS BIGINT) AS _weight, CAST(_lsn AS BIGINT) AS _lsn FROM ({text})", session
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
        back = " AND ".join(f"o.{mirror.q(k)} = CAST(l._from_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
                            for i, k in enumerate(t.identity_key))
        return (f"SELECT {', '.join(picks)}, 1 AS _weight, l._lsn FROM parquet.`{events}` l LEFT JOIN `before_rows__{t.mirror}` o "
                f"ON {back} WHERE l._present")

    def _compute(self, p: Program, batches: dict[str, str], folder: Path, session: Any, small: bool) -> list[dict[str, str]]:
        """Phase one: every step stored as Parquet, independent ones side by side. Gives the merges of phase two."""
        steps: list[tuple[str, Relation, bool]] = [(s.name, s.relation, s.signed) for s in p.steps]
        owners = {s.name: s.state for s in p.steps}
        merges: list[dict[str, str]] = []
        for m in p.merges:
            name = m.source.name if isinstance(m.source, Temp) else f"change_{m.state.name}"
            if not isinstance(m.source, Temp):
                steps.append((name, m.source, False))
                owners[name] = m.state.name
            merges.append({"state": m.state.name, "sql": self.printer.merge(m, f"parquet.`{folder / name}`")})
        self._views([r for _, r, _ in steps], batches, session)
        left = {n: (r, signed) for n, r, signed in steps}
        while left:
            ready = [n for n, (r, _) in left.items() if not any(isinstance(x, Temp) and x.name in left for x in walk(r))]
            jobs = [self.pool.submit(self._store, n, *left[n], folder / n, session, owners[n], small) for n in ready]
            wait(jobs)
            for j in jobs:
                j.result()
            for n in ready:
                session.read.parquet(str(folder / n)).createOrReplaceTempView(mirror.q(n))
                del left[n]
        return merges

    def _store(self, name: str, r: Relation, signed: bool, target: Path, session: Any, state: str, small: bool) -> None:
        text = self.printer.query(self.unrolled(r, target.parent, session), signed, small)
        casts = [(c.name, c.type) for c in r.schema]
        items = ", ".join(f"CAST({mirror.q(n)} AS {type_name(t)}) AS {mirror.q(n)}" for n, t in casts)
        items += (", " if items and signed else "") + ("CAST(_weight AS BIGINT) AS _weight" if signed else "")
        begun = time.perf_counter()
        try:
            session.sql(f"SELECT {items} FROM ({text})").coalesce(1).write.mode("overwrite").parquet(str(target))
            self.timings[state] = time.perf_counter() - begun
        except Exception as e:
            raise self._failure(f'step "{name}"', e, state) from e

    def _finish_pending(self) -> None:
        """Phase two of whatever phase one has completed, then the frontier; harmless to repeat."""
        root = self.path / "pending"
        if not root.is_dir():
            return
        for folder in sorted(root.iterdir(), key=lambda f: int(f.name)):
            if not (folder / "DONE").exists():
                shutil.rmtree(folder)
                continue
            manifest = json.loads((folder / "manifest.json").read_text())
            lsn = int(manifest["lsn"])
            if lsn > int(self._file("frontier.json", {"lsn": 0})["lsn"]):
                self._take(manifest, folder, lsn)
                reach("spark.committed")
                self.set_frontier(lsn)
            reach("spark.frontier")
            shutil.rmtree(folder)
            reach("spark.cleared")

    def _take(self, manifest: dict[str, Any], folder: Path, lsn: int) -> None:
        _ = self.spark

        def append(item: tuple[str, str]) -> None:
            name, stored = item
            t = self.tables[name]
            cols = mirror.columns(t)
            self._tagged(f"INSERT INTO {mirror.path_name(self._mirror(t))} SELECT {cols}, _weight, _lsn, TRUE FROM "
                         f"parquet.`{folder / stored}`", f"mirror/{t.mirror}", lsn)

        jobs = [self.pool.submit(append, x) for x in manifest["tables"].items()]
        jobs += [self.pool.submit(self._tagged, m["sql"], f"state/{m['state']}", lsn) for m in manifest["merges"]]
        wait(jobs)
        for j in jobs:
            j.result()

    def _tagged(self, text: str, application: str, lsn: int) -> None:
        """One Delta commit that carries (application, LSN): Delta skips it when that LSN is already there."""
        session = self.paced(self._sessions.pop() if self._sessions else self.spark.newSession())
        try:
            session.conf.set("spark.databricks.delta.write.txnAppId", f"tidemark/{application}")
            session.conf.set("spark.databricks.delta.write.txnVersion", str(lsn))
            begun = time.perf_counter()
            session.sql(text)
            reach("spark.commit")
            state = application.removeprefix("state/")
            self.timings[state] = self.timings.get(state, 0.0) + time.perf_counter() - begun
        except Exception as e:
            raise self._failure(f"the commit to {application}", e, application.removeprefix("state/")) from e
        finally:
            session.conf.unset("spark.databricks.delta.write.txnAppId")
            session.conf.unset("spark.databricks.delta.write.txnVersion")
            self._sessions.append(session)
