"""What is read of a Spark warehouse, at a pin: one frontier, and each Delta table at its version there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from compiler.catalog import Table
from compiler.ir.relation import State, walk
from compiler.maintain.plan import ViewPlan
from compiler.temporal import timed
from connectors.duckdb.session import scratch
from connectors.engine import EngineFailure
from connectors.spark import mirror
from connectors.spark.landing import interval_of, intervals_of, quoted
from connectors.spark.pins import Pin
from connectors.spark.recursion import Recursion
from connectors.spark.store import Store

T = TypeVar("T")


def is_interval(t: Any) -> bool:
    """Whether a type of Spark's is an interval: the struct of its parts."""
    return getattr(t, "names", None) == ["months", "days", "micros"]


def collected(f: Any) -> str:
    """A frame's column as DuckDB has it."""
    if is_interval(f.dataType):
        return interval_of(f.name)
    return intervals_of(f.name) if is_interval(getattr(f.dataType, "elementType", None)) else quoted(f.name)


def repeated(rows: pa.Table) -> pa.Table:
    """Each row as often as its weight says."""
    con = scratch()
    con.register("weighed", rows)
    cols = ", ".join(quoted(n) for n in rows.column_names if n != "_weight")
    return con.execute(f"SELECT {cols} FROM (SELECT {cols}, unnest(range(_weight)) FROM weighed)").to_arrow_table()


class Reading:
    """Views are queries over states, made when read. `plans` are those of the deployment."""

    def __init__(self, store: Store, recursion: Recursion, plans: Iterable[ViewPlan]) -> None:
        self.store, self.recursion = store, recursion
        self.plans = {p.view: p for p in plans}

    @contextmanager
    def pinned(self) -> Iterator[Pin]:
        """One frontier, and every table as it is there, for all that is read until the end of the block."""
        with self.store.leases.take(lambda: self.store.published.check(self.store.published.pin())) as pin:
            yield pin

    def create_view(self, plan: ViewPlan) -> None:
        """Check that the query can be made."""
        self.store.printer.view(plan)
        self.plans[plan.view] = plan

    def drop_view(self, name: str) -> None:
        self.plans.pop(name, None)

    def _select(self, plan: ViewPlan, at: Pin, now: str | None = None) -> str:
        lacking = sorted(n.name for n in walk(plan.top) if isinstance(n, State) and not at.holds(f"state/{n.name}"))
        if lacking:
            raise EngineFailure(
                f'view "{plan.view}" cannot be read',
                detail=f'Its state "{lacking[0]}" is being filled, or was given up.',
                hint="Try again; if it stays so, run: tidemark deploy",
            )
        versions = at.kind("state")
        top = self.recursion.unrolled(plan.top, self.store.scratch, self.store.paced(self.store.spark), versions)
        return self.store.printer.view(replace(plan, top=top), now, versions)

    def frame(self, plan: ViewPlan, at: Pin) -> Any:
        """A view's rows as they are at a pin, which is to be held until they are read."""
        return self.store.sql(self._select(plan, at))

    def read(self, plan: ViewPlan, now: str | None = None, at: Pin | None = None) -> pa.Table:
        return self.at(plan, at, lambda pin: self._rows(plan, pin, now))

    def _rows(self, plan: ViewPlan, at: Pin, now: str | None) -> pa.Table:
        """The rows, as read before where they can be no others. Who gives the time wants them from the tables."""
        age, statement = self.store.recent.age, self._select(plan, at, now)
        lasting = now is None and at.versions is not None and not timed(plan.top)
        rows = self.store.recent.get(statement) if lasting else None
        if rows is None:
            rows = self.collect(self.store.sql(statement))
            if lasting:
                self.store.recent.put(statement, rows, age)
        return rows

    def read_mirror(self, t: Table, at: Pin | None = None) -> pa.Table:
        with nullcontext(at) if at is not None else self.pinned() as pin:
            version = (pin.kind("mirror") or {}).get(t.mirror)
            text = mirror.at_version(t, self.store.mirror(t), version)
            found = self.store.healing.run(
                f'reading the mirror of "{t.schema}.{t.name}"', lambda: self.collect(self.store.sql(text))
            )
        return found if t.key else repeated(found)

    def at(self, plan: ViewPlan, at: Pin | None, work: Callable[[Pin], T]) -> T:
        """What `work` makes of a view at a pin, by default the present one; begun again where Spark was lost."""
        with nullcontext(at) if at is not None else self.pinned() as pin:
            return self.store.healing.run(f'reading "{plan.view}"', lambda: work(pin))

    def collect(self, frame: Any) -> pa.Table:
        """A frame as Arrow, by way of Parquet, so that types are the engine's own."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "view.parquet"
            self.write("a view", frame, path, "parquet")
            con = scratch()
            items = ", ".join(map(collected, frame.schema.fields)) or "*"
            return con.execute(f"SELECT {items} FROM read_parquet('{path}/*.parquet')").to_arrow_table()

    def count(self, view: str, at: Pin | None = None) -> int:
        plan = self.plans[view]
        return self.at(plan, at, lambda pin: int(self.frame(plan, pin).count()))

    def write(self, view: str, frame: Any, path: Path, fmt: str) -> None:
        """One file of it, under a folder."""
        writer = frame.coalesce(1).write.mode("overwrite")
        try:
            if fmt == "parquet":
                writer.parquet(str(path.absolute()))
            else:
                writer.option("header", "true").csv(str(path.absolute()))
        except Exception as e:
            raise self.store.failed(f'export of "{view}"', e) from e
