"""Spark as an engine: Delta tables that commit one by one, made to move together by two phases.

Phase one computes everything the batch changes, from tables not yet touched, and stores it under the batch's LSN.
Phase two merges what was stored; each Delta commit carries the batch's LSN, so that a repeated one is skipped. Then the
frontier moves. A crash in phase one leaves nothing; a crash in phase two is finished when the warehouse is opened next.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.relation import Relation, Scan, Temp, walk
from compiler.ir.types import Type
from compiler.maintenance import Program
from compiler.spelling.spark import type_name
from compiler.state import StateDef, ViewPlan
from connectors.engine import EngineFailure, Printer
from connectors.exported import arrow_type, export_batch, is_json
from connectors.spark import mirror
from connectors.spark.landing import interval_of, quoted, typed_base, typed_events
from connectors.spark.session import start
from connectors.staging import Staged

COMPACT_SHARE = 0.2
COMPACT_FILES = 40
BROADCAST_ROWS = 200_000  # batches up to this size are sent to every worker
OF_A_STATE = ("ArithmeticException", "DateTimeException", "NumberFormatException", "SparkRuntimeException", "AnalysisException",
              "ParseException", "[DIVIDE_BY_ZERO]", "[NUMERIC_VALUE_OUT_OF_RANGE", "[CAST_", "[ARITHMETIC_OVERFLOW]")


def is_interval(f: Any) -> bool:
    """Whether a frame's column is an interval: the struct of its parts."""
    return getattr(f.dataType, "names", None) == ["months", "days", "micros"]


class SparkEngine:
    """Delta tables under one folder, maintained by one Spark session."""

    name = "spark"

    def __init__(self, path: Path, printer: Printer, master: str = "local[*]", jars: str = "", settings: dict[str, str] | None = None) -> None:
        self.path, self.printer = path.absolute(), printer
        self.path.mkdir(parents=True, exist_ok=True)
        self.master, self.jars, self.settings = master, jars, settings or {}
        self._session: Any = None
        self._sessions: list[Any] = []
        self.tables: dict[str, Table] = {}
        self.plans: dict[str, ViewPlan] = {}
        self.timings: dict[str, float] = {}  # state → seconds of its jobs in the last batch that touched it
        self.pool = ThreadPoolExecutor(4)

    @property
    def spark(self) -> Any:
        """The session, started when first needed."""
        if self._session is None:
            self._session = start(self.master, self.jars, self.settings)
        return self._session

    def close(self) -> None:
        self.pool.shutdown(wait=True)

    def stop(self) -> None:
        if self._session is not None:
            self._session.stop()
            self._session = None

    # -- small files: frontier, tables, states

    def _file(self, name: str, default: Any) -> Any:
        try:
            return json.loads((self.path / name).read_text())
        except FileNotFoundError:
            return default

    def _put(self, name: str, value: Any) -> None:
        temp = self.path / f".{name}.new"
        with temp.open("w") as f:
            json.dump(value, f)
            f.flush()
            os.fsync(f.fileno())
        temp.replace(self.path / name)

    def frontier(self) -> int:
        self._finish_pending()
        return int(self._file("frontier.json", {"lsn": 0})["lsn"])

    def moved(self) -> float:
        return float(self._file("frontier.json", {}).get("moved", 0.0))

    def set_frontier(self, lsn: int) -> None:
        self._put("frontier.json", {"lsn": lsn, "moved": time.time()})

    def states(self) -> set[str]:
        return set(self._file("states.json", []))

    def know(self, tables: Iterable[Table]) -> None:
        """Tables that are mirrored here; called when the warehouse is opened."""
        self.tables = {f"{t.schema}.{t.name}": t for t in tables}

    # -- running SQL

    def sql(self, text: str, session: Any = None) -> Any:
        try:
            return (session or self.spark).sql(text)
        except Exception as e:
            raise self._failure("a statement", e) from e

    def _failure(self, what: str, e: Exception, state: str = "") -> TidemarkError:
        """`state` is blamed only for what its data or text can cause, not for a lost executor or a full disk."""
        lines = [x for x in str(e).split("\n") if x.strip()]
        return EngineFailure(f"{what} failed on Spark", detail=lines[0][:300] if lines else type(e).__name__, code="engine",
                             hint="scripts/inspect prints the statement.", state=state if any(x in str(e) for x in OF_A_STATE) else "")

    def _views(self, relations: Iterable[Relation], batches: dict[str, str], session: Any) -> None:
        """Temp views for the mirrors that relations read; `batches` gives the stored rows of changed tables."""
        needed = {n.table for r in relations for n in walk(r) if isinstance(n, Scan) and n.at != "delta"}
        for name in needed:
            t = self.tables[name]
            for kind, body in mirror.views(t, self._mirror(t), batches.get(name)).items():
                session.sql(f"CREATE OR REPLACE TEMP VIEW `{kind}__{t.mirror}` AS {body}")

    def _mirror(self, t: Table) -> Path:
        return self.path / "mirror" / t.mirror

    # -- mirrors

    def create_mirror(self, t: Table) -> None:
        self.tables[f"{t.schema}.{t.name}"] = t
        shutil.rmtree(self._mirror(t), ignore_errors=True)
        self.sql(mirror.create(t, self._mirror(t)))

    def drop_mirror(self, name: str) -> None:
        shutil.rmtree(self.path / "mirror" / name, ignore_errors=True)

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Rows are cast by an in-memory DuckDB, stored as Parquet beside the warehouse, and read from there by Spark."""
        folder = self.path / "loading" / t.mirror
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        n = 0
        for i, rows in enumerate(batches):
            typed_base(t, rows, folder / f"{i}.parquet")
            n += rows.num_rows
        if n:
            cols = mirror.columns(t)
            casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)})" for c in t.columns)
            total = f"SELECT {casts}, 1, 0, FALSE FROM parquet.`{folder}`" if t.key else (
                f"SELECT {casts}, COUNT(*), 0, FALSE FROM parquet.`{folder}` GROUP BY {cols}")
            self.sql(f"INSERT INTO {mirror.path_name(self._mirror(t))} {total}")
        shutil.rmtree(folder)
        return n

    # -- states and views

    def create_state(self, s: StateDef) -> None:
        path = self.path / "state" / s.name
        shutil.rmtree(path, ignore_errors=True)
        session = self.spark
        self._views([s.definition], {}, session)
        casts = ", ".join(f"CAST({mirror.q(c.name)} AS {type_name(c.type)}) AS {mirror.q(c.name)}" for c in s.columns)
        self.sql(f"CREATE TABLE {mirror.path_name(path)} USING delta AS SELECT {casts} FROM ({self.printer.contents(s)})")
        self._put("states.json", sorted(self.states() | {s.name}))

    def drop_state(self, name: str) -> None:
        shutil.rmtree(self.path / "state" / name, ignore_errors=True)
        self._put("states.json", sorted(self.states() - {name}))

    def size(self, state: str) -> tuple[int, int]:
        table = mirror.path_name(self.path / "state" / state)
        detail = self.sql(f"DESCRIBE DETAIL {table}").first()
        return int(self.sql(f"SELECT count(*) FROM {table}").first()[0]), int(detail["sizeInBytes"])

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

    def create_view(self, plan: ViewPlan) -> None:
        """Views are queries over states, made when read; this checks that the query can be made."""
        self.printer.view(plan)

    def drop_view(self, name: str) -> None:
        return None

    # -- batches

    def apply(self, staged: list[Staged], end: int, program: Callable[[frozenset[str]], Program]) -> int:
        if not staged:
            self.set_frontier(end)
            return 0
        session = self.spark
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
        manifest: dict[str, Any] = {"lsn": end, "tables": {}, "merges": []}
        for name in batches:
            manifest["tables"][name] = f"batch_{self.tables[name].mirror}"
        if batches:
            manifest["merges"] = self._compute(program(frozenset(batches)), batches, folder, session, rows < BROADCAST_ROWS)
        with (folder / "manifest.json").open("w") as f:
            json.dump(manifest, f)
            f.flush()
            os.fsync(f.fileno())
        (folder / "DONE").touch()
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
                on = " AND ".join(f"m.{mirror.q(k)} = CAST(l.key_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
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
        session.read.parquet(str(target)).createOrReplaceTempView(name)
        return max(n, 1)

    def _with_unchanged(self, s: Staged, events: Path) -> str:
        t = s.table
        picks = []
        for i, c in enumerate(t.columns):
            value = f"CAST(l.{mirror.q(c.name)} AS {type_name(c.type)})"
            if i in s.unchanged:
                value = f"CASE WHEN l.u{i} THEN o.{mirror.q(c.name)} ELSE {value} END"
            picks.append(f"{value} AS {mirror.q(c.name)}")
        back = " AND ".join(f"o.{mirror.q(k)} = CAST(l.from_{i} AS {type_name(t.column(k).type)})"  # type: ignore[union-attr]
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
                session.read.parquet(str(folder / n)).createOrReplaceTempView(n)
                del left[n]
        return merges

    def _store(self, name: str, r: Relation, signed: bool, target: Path, session: Any, state: str, small: bool) -> None:
        text = self.printer.query(r, signed, small)
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
                self.set_frontier(lsn)
            shutil.rmtree(folder)

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
        session = self._sessions.pop() if self._sessions else self.spark.newSession()
        try:
            session.conf.set("spark.databricks.delta.write.txnAppId", f"tidemark/{application}")
            session.conf.set("spark.databricks.delta.write.txnVersion", str(lsn))
            begun = time.perf_counter()
            session.sql(text)
            state = application.removeprefix("state/")
            self.timings[state] = self.timings.get(state, 0.0) + time.perf_counter() - begun
        except Exception as e:
            raise self._failure(f"the commit to {application}", e, application.removeprefix("state/")) from e
        finally:
            session.conf.unset("spark.databricks.delta.write.txnAppId")
            session.conf.unset("spark.databricks.delta.write.txnVersion")
            self._sessions.append(session)

    def compact(self, tables: list[Table], force: bool = False) -> list[str]:
        """Rewrite mirrors whose log has grown into many files; one Delta commit each."""
        done = []
        for t in tables:
            log = list((self._mirror(t) / "_log=true").glob("*.parquet"))
            if not force and len(log) < COMPACT_FILES:
                continue
            lsn = int(self._file("frontier.json", {"lsn": 0})["lsn"])
            frame = self.sql(mirror.compacted(t, self._mirror(t), lsn))
            frame.write.format("delta").mode("overwrite").partitionBy("_log").save(str(self._mirror(t)))
            self.sql(f"VACUUM {mirror.path_name(self._mirror(t))}")
            done.append(t.mirror)
        return done

    # -- reading

    def frame(self, plan: ViewPlan, now: str | None = None) -> Any:
        return self.sql(self.printer.view(plan, now))

    def read(self, plan: ViewPlan, now: str | None = None) -> pa.Table:
        return self.collect(self.frame(plan, now))

    def collect(self, frame: Any) -> pa.Table:
        """A frame as Arrow, by way of Parquet, so that types are the engine's own."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "view.parquet"
            self._write("a view", frame, path, "parquet")
            con = duckdb.connect()
            con.execute("SET TimeZone = 'UTC'")
            items = ", ".join(interval_of(f.name) if is_interval(f) else quoted(f.name) for f in frame.schema.fields) or "*"
            return con.execute(f"SELECT {items} FROM read_parquet('{path}/*.parquet')").to_arrow_table()

    def count(self, view: str) -> int:
        return int(self.frame(self.plans[view]).count())

    def export(self, plan: ViewPlan, path: Path, fmt: str) -> None:
        frame = self.frame(plan)
        types = [c.type for _, c in plan.outputs]
        if any(t.name == "interval" for t in types):  # as seconds: Parquet's interval has no sign
            length = ("CAST((`{0}`.months * CAST(30 AS BIGINT) + `{0}`.days) * 86400000000 + `{0}`.micros AS DOUBLE) / 1000000 AS `{0}`")
            frame = frame.selectExpr(*((length if t.name == "interval" else "`{0}`").format(n.replace("`", "``"))
                                       for (n, _), t in zip(plan.outputs, types, strict=True)))
        if fmt == "parquet" and any(map(is_json, types)):
            frame = frame.mapInArrow(lambda batches: (export_batch(b, types) for b in batches), self._exported(frame, types))
        self._write(plan.view, frame, path, fmt)

    def _exported(self, frame: Any, kinds: list[Type]) -> Any:
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        return StructType([StructField(f.name, from_arrow_type(arrow_type(t)) if is_json(t) else f.dataType)
                           for f, t in zip(frame.schema.fields, kinds, strict=True)])

    def _write(self, view: str, frame: Any, path: Path, fmt: str) -> None:
        writer = frame.coalesce(1).write.mode("overwrite")
        try:
            if fmt == "parquet":
                writer.parquet(str(path.absolute()))
            else:
                writer.option("header", "true").csv(str(path.absolute()))
        except Exception as e:
            raise self._failure(f'export of "{view}"', e) from e
