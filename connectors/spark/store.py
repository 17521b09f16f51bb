"""Where the Spark engine keeps things: one session, Delta tables under one folder, small files beside them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.relation import Relation, Scan, walk
from compiler.maintain.change import Change
from compiler.maintain.plan import ViewPlan
from connectors import engine
from connectors.spark import durable, mirror
from connectors.spark.driver import Driver
from connectors.spark.dropped import Dropped
from connectors.spark.failures import failure
from connectors.spark.healing import Healing
from connectors.spark.pending import Pending
from connectors.spark.pins import Leases
from connectors.spark.published import Published
from connectors.spark.recent import Recent

LIGHT = 16 << 20  # bytes of mirrors up to which it takes longer to compile a plan to Java than to interpret it
CODEGEN = {
    "spark.sql.codegen.wholeStage": ("true", "false"),
    "spark.sql.codegen.factoryMode": ("FALLBACK", "NO_CODEGEN"),
}


class Printer(engine.Printer, Protocol):
    """One that reads states at the versions it is given, and where it is given none, as they are."""

    def query(
        self, r: Relation, weight: bool, small: bool = False, versions: Mapping[str, int] | None = None
    ) -> str: ...

    def merge(self, c: Change, stored: Path) -> str:
        """MERGE of a change that is stored as Parquet."""
        ...

    def view(self, plan: ViewPlan, now: str | None = None, versions: Mapping[str, int] | None = None) -> str: ...


class Store:
    """A session and its folder. `read_only`: what another process left half done is that process's to finish."""

    def __init__(
        self,
        path: Path,
        printer: Printer,
        master: str = "local[*]",
        jars: str = "",
        settings: dict[str, str] | None = None,
        read_only: bool = False,
        tables: Iterable[Table] = (),
    ) -> None:
        """`tables` are those that are mirrored here."""
        self.path, self.printer, self.read_only = path.absolute(), printer, read_only
        self.path.mkdir(parents=True, exist_ok=True)
        self.settings = settings or {}
        self.driver = Driver(master, jars, self.settings)
        self.healing = Healing(self.driver.mend)
        self.published = Published(self.path)
        self.pending = Pending(self.path / "pending")
        self.leases = Leases(self.path / "readers")
        self.dropped = Dropped(self.path, self.leases)
        self.recent = Recent()
        self.tables = {f"{t.schema}.{t.name}": t for t in tables}
        self.pool = ThreadPoolExecutor(4)
        self.scratch = self.path / f"scratch-{os.getpid()}"  # what a query keeps while it is read
        self.lock = Lock()  # of states.json, where several threads fill states

    @property
    def spark(self) -> Any:
        """The session, started when first needed."""
        return self.driver.session

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

    def close(self) -> None:
        self.healing.closed = True
        self.pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def stop(self) -> None:
        self.driver.stop()

    def deployment(self) -> str:
        return durable.read(self.path / "deployment", str, "")

    def belong(self, mark: str) -> None:
        durable.write(self.path / "deployment", mark)

    def states(self) -> set[str]:
        return set(durable.read(self.path / "states.json", list[str], []))

    def note(self, added: Iterable[str] = (), removed: Iterable[str] = ()) -> None:
        with self.lock:
            durable.write(self.path / "states.json", sorted((self.states() | set(added)) - set(removed)))

    def sql(self, text: str, session: Any = None) -> Any:
        try:
            return (session or self.spark).sql(text)
        except Exception as e:
            raise self.failed("a statement", e) from e

    def failed(self, what: str, e: Exception, state: str = "") -> TidemarkError:
        """What is raised for what was raised."""
        return e if isinstance(e, TidemarkError) else failure(what, e, state)

    def views(self, relations: Iterable[Relation], batches: dict[str, str], session: Any) -> None:
        """Temp views for the mirrors that relations read; `batches` gives the stored rows of changed tables."""
        needed = {n.table for r in relations for n in walk(r) if isinstance(n, Scan) and n.at != "delta"}
        for name in needed:
            t = self.tables[name]
            for kind, body in mirror.views(t, self.mirror(t), batches.get(name)).items():
                session.sql(f"CREATE OR REPLACE TEMP VIEW `{kind}__{t.mirror}` AS {body}")

    def mirror(self, t: Table) -> Path:
        """The folder of a mirror's Delta table."""
        return self.path / "mirror" / t.mirror
