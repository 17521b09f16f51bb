"""Where the Spark engine keeps things: one session, Delta tables under one folder, small files beside them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.relation import Relation, Scan, walk
from compiler.state import ViewPlan
from connectors.engine import EngineFailure, Printer
from connectors.spark import mirror
from connectors.spark.session import start

OF_A_STATE = ("ArithmeticException", "DateTimeException", "NumberFormatException", "SparkRuntimeException", "AnalysisException",
              "ParseException", "[DIVIDE_BY_ZERO]", "[NUMERIC_VALUE_OUT_OF_RANGE", "[CAST_", "[ARITHMETIC_OVERFLOW]")


LIGHT = 16 << 20  # bytes of mirrors up to which it takes longer to compile a plan to Java than to interpret it
CODEGEN = {"spark.sql.codegen.wholeStage": ("true", "false"), "spark.sql.codegen.factoryMode": ("FALLBACK", "NO_CODEGEN")}


class Store:
    """A session and its folder."""

    def __init__(self, path: Path, printer: Printer, master: str = "local[*]", jars: str = "", settings: dict[str, str] | None = None) -> None:
        self.path, self.printer = path.absolute(), printer
        self.path.mkdir(parents=True, exist_ok=True)
        self.master, self.jars, self.settings = master, jars, settings or {}
        self._session: Any = None
        self._sessions: list[Any] = []
        self.tables: dict[str, Table] = {}
        self.plans: dict[str, ViewPlan] = {}
        self.timings: dict[str, float] = {}  # state → seconds of its jobs in the last batch that touched it
        self.vacuumed: dict[Path, float] = {}  # table → when files of its earlier versions were last deleted
        self.pool = ThreadPoolExecutor(4)
        self.scratch = self.path / f"scratch-{os.getpid()}"  # what a query keeps while it is read
        self.lock = Lock()  # of the small files, where several threads fill states

    @property
    def spark(self) -> Any:
        """The session, started when first needed."""
        if self._session is None:
            self._session = start(self.master, self.jars, self.settings)
        return self._session

    def paced(self, session: Any) -> Any:
        """The session, set to interpret expressions where there is little to read, and else to compile them."""
        size, light = 0, True
        for f in (self.path / "mirror").rglob("*.parquet"):
            size += mirror.size(f)
            if not (light := size <= LIGHT):
                break
        for key, values in CODEGEN.items():
            if key not in self.settings:
                session.conf.set(key, values[light])
        return session

    def _finish_pending(self) -> None:
        """Finish the batch that a crash left between its phases."""
        raise NotImplementedError

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def stop(self) -> None:
        if self._session is not None:
            self._session.stop()
            self._session = None

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

    def drop_state(self, name: str) -> None:
        shutil.rmtree(self.path / "state" / name, ignore_errors=True)
        self._put("states.json", sorted(self.states() - {name}))
