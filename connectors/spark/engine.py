"""Spark as an engine: Delta tables that commit one by one, made to move together by two phases.

Phase one computes everything the batch changes, from tables not yet touched, and stores it under the batch's LSN.
Phase two merges what was stored; each Delta commit carries the batch's LSN, so that a repeated one is skipped. Then the
frontier moves, and with it the version of each table that readers see. A crash in phase one leaves nothing; a crash in
phase two is finished when the warehouse is opened next.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from compiler.catalog import Table
from compiler.ir.relation import State, walk
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from compiler.spelling.spark import shortest_real, type_name
from compiler.temporal import timed
from connectors.duckdb.session import scratch
from connectors.engine import EngineFailure
from connectors.exported import NOTHING, export_batch, fits, is_json, known, packed_shapes, settled, unpacked_shapes
from connectors.spark import mirror
from connectors.spark.landing import interval_of, intervals_of, quoted, typed_base
from connectors.spark.pins import Pin
from connectors.spark.upkeep import Upkeep

T = TypeVar("T")


def column(name: str) -> Any:
    from pyspark.sql.functions import col

    return col("`" + name.replace("`", "``") + "`")


def is_interval(t: Any) -> bool:
    """Whether a type of Spark's is an interval: the struct of its parts."""
    return getattr(t, "names", None) == ["months", "days", "micros"]


def collected(f: Any) -> str:
    """A frame's column as DuckDB has it."""
    if is_interval(f.dataType):
        return interval_of(f.name)
    return intervals_of(f.name) if is_interval(getattr(f.dataType, "elementType", None)) else quoted(f.name)


SECONDS = (
    "CAST(({0}.months DIV 12 * CAST(365 AS BIGINT) + {0}.months % 12 * 30 + {0}.days) * 86400000000 + {0}.micros AS "
    "DOUBLE) / 1000000"
)
EXPORTED = {  # Parquet's interval has no sign: seconds; a real is the double of the digits that Postgres shows
    "interval": f"{SECONDS.format('`{0}`')} AS `{{0}}`",
    "interval[]": f"TRANSFORM(`{{0}}`, v -> CASE WHEN v IS NOT NULL THEN {SECONDS.format('v')} END) AS `{{0}}`",
    "real": f"CAST({shortest_real('`{0}`')} AS DOUBLE) AS `{{0}}`",
    "real[]": f"TRANSFORM(`{{0}}`, v -> CAST({shortest_real('v')} AS DOUBLE)) AS `{{0}}`",
}


def repeated(rows: pa.Table) -> pa.Table:
    """Each row as often as its weight says."""
    con = scratch()
    con.register("weighed", rows)
    cols = ", ".join(quoted(n) for n in rows.column_names if n != "_weight")
    return con.execute(f"SELECT {cols} FROM (SELECT {cols}, unnest(range(_weight)) FROM weighed)").to_arrow_table()


class SparkEngine(Upkeep):
    """Delta tables under one folder, maintained by one Spark session."""

    name = "spark"
    threads = 4
    folds = False  # each of its commits is marked with the LSN of a batch, so that a batch folds
    first_batch = 10.0

    def kept(self) -> int:
        return self.published.pin().lsn

    def settle(self, force: bool = False) -> None:
        return None

    def large(self) -> frozenset[str]:
        """None is read by keys in a step of its own: a step is a job."""
        return frozenset()

    def fold(self, prepared: Prepared) -> None:
        raise NotImplementedError("Spark folds in a batch")

    def create_mirror(self, t: Table) -> None:
        self.tables[f"{t.schema}.{t.name}"] = t
        self.drop_mirror(t.mirror)
        self.sql(mirror.create(t, self._mirror(t)))
        self.published.publish([f"mirror/{t.mirror}"])

    def drop_mirror(self, name: str) -> None:
        self.published.withdraw([f"mirror/{name}"])
        shutil.rmtree(self.path / "mirror" / name, ignore_errors=True)

    def load(self, t: Table, batches: Iterable[pa.Table]) -> int:
        """Rows are cast by an in-memory DuckDB, stored as Parquet beside the warehouse, and read from there by
        Spark."""
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
            total = (
                f"SELECT {casts}, 1, 0, FALSE FROM parquet.`{folder}`"
                if t.key
                else (f"SELECT {casts}, COUNT(*), 0, FALSE FROM parquet.`{folder}` GROUP BY {cols}")
            )
            self.sql(f"INSERT INTO {mirror.path_name(self._mirror(t))} {total}")
            self.published.publish([f"mirror/{t.mirror}"])
        shutil.rmtree(folder)
        return n

    def create_view(self, plan: ViewPlan) -> None:
        """Views are queries over states, made when read; this checks that the query can be made."""
        self.printer.view(plan)

    def drop_view(self, name: str) -> None:
        return None

    def _select(self, plan: ViewPlan, at: Pin, now: str | None = None) -> str:
        lacking = sorted(n.name for n in walk(plan.top) if isinstance(n, State) and not at.holds(f"state/{n.name}"))
        if lacking:
            raise EngineFailure(
                f'view "{plan.view}" cannot be read',
                detail=f'Its state "{lacking[0]}" is being filled, or was given up.',
                hint="Try again; if it stays so, run: tidemark deploy",
            )
        versions = at.of("state")
        top = self.unrolled(plan.top, self.scratch, self.paced(self.spark), versions)
        return self.printer.view(replace(plan, top=top), now, versions)

    def frame(self, plan: ViewPlan, at: Pin) -> Any:
        """A view's rows as they are at a pin, which is to be held until they are read."""
        return self.sql(self._select(plan, at))

    def read(self, plan: ViewPlan, now: str | None = None, at: Pin | None = None) -> pa.Table:
        return self._reading(plan, at, lambda pin: self._rows(plan, pin, now))

    def _rows(self, plan: ViewPlan, at: Pin, now: str | None) -> pa.Table:
        """The rows, as read before where they can be no others. Who gives the time wants them from the tables."""
        age, statement = self.recent.age, self._select(plan, at, now)
        lasting = now is None and at.versions is not None and not timed(plan.top)
        rows = self.recent.get(statement) if lasting else None
        if rows is None:
            rows = self.collect(self.sql(statement))
            if lasting:
                self.recent.put(statement, rows, age)
        return rows

    def counted(self, plan: ViewPlan, at: Any) -> bool | None:
        return None

    def as_defined(self, plan: ViewPlan, at: Any) -> bool | None:
        return None

    def read_mirror(self, t: Table, at: Pin | None = None) -> pa.Table:
        with nullcontext(at) if at is not None else self.pinned() as pin:
            version = (pin.of("mirror") or {}).get(t.mirror)
            text = mirror.at_version(t, self._mirror(t), version)
            found = self.healing.run(
                f'reading the mirror of "{t.schema}.{t.name}"', lambda: self.collect(self.sql(text))
            )
        return found if t.key else repeated(found)

    def _reading(self, plan: ViewPlan, at: Pin | None, work: Callable[[Pin], T]) -> T:
        """What `work` makes of a view at a pin, by default the present one; begun again where Spark was lost."""
        with nullcontext(at) if at is not None else self.pinned() as pin:
            return self.healing.run(f'reading "{plan.view}"', lambda: work(pin))

    def collect(self, frame: Any) -> pa.Table:
        """A frame as Arrow, by way of Parquet, so that types are the engine's own."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "view.parquet"
            self._write("a view", frame, path, "parquet")
            con = scratch()
            items = ", ".join(map(collected, frame.schema.fields)) or "*"
            return con.execute(f"SELECT {items} FROM read_parquet('{path}/*.parquet')").to_arrow_table()

    def count(self, view: str, at: Pin | None = None) -> int:
        plan = self.plans[view]
        return self._reading(plan, at, lambda pin: int(self.frame(plan, pin).count()))

    def export(self, plan: ViewPlan, path: Path, fmt: str, at: Pin | None = None) -> None:
        self._reading(plan, at, lambda pin: self._export(plan, self.frame(plan, pin), path, fmt))

    def _export(self, plan: ViewPlan, frame: Any, path: Path, fmt: str) -> None:
        types = [c.type for _, c in plan.outputs]
        if any(str(t) in EXPORTED for t in types):
            frame = frame.selectExpr(
                *(
                    EXPORTED.get(str(t), "`{0}`").format(n.replace("`", "``"))
                    for (n, _), t in zip(plan.outputs, types, strict=True)
                )
            )
        if fmt == "parquet" and any(map(is_json, types)):
            frame = frame.persist()  # read twice
            typed = self._with_json(
                frame, {n: known(t) for (n, _), t in zip(plan.outputs, types, strict=True) if is_json(t)}
            )
            self._write(plan.view, typed, path, fmt)
            frame.unpersist()
            return
        self._write(plan.view, frame, path, fmt)

    def _with_json(self, frame: Any, kinds: dict[str, Any]) -> Any:
        """JSON columns as the types their values share: found in a first pass, of which a row a batch is collected."""
        from pyspark.sql.functions import parse_json
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        found = (
            frame.select([column(n) for n in kinds])
            .mapInArrow(lambda batches: map(packed_shapes, batches), "kinds binary")
            .collect()
        )
        seen = zip(list(kinds.items()), unpacked_shapes([r.kinds for r in found], len(kinds)), strict=True)
        kinds = {n: k if fits(k, of) else of for (n, k), of in seen}
        fields = [
            StructField(f.name, from_arrow_type(settled(kinds[f.name])) if f.name in kinds else f.dataType)
            for f in frame.schema.fields
        ]
        frame = frame.mapInArrow(lambda batches: (export_batch(b, kinds) for b in batches), StructType(fields))
        return frame.select(
            [
                parse_json(column(f.name)).alias(f.name) if kinds.get(f.name, NOTHING) is None else column(f.name)
                for f in fields
            ]
        )

    def _write(self, view: str, frame: Any, path: Path, fmt: str) -> None:
        writer = frame.coalesce(1).write.mode("overwrite")
        try:
            if fmt == "parquet":
                writer.parquet(str(path.absolute()))
            else:
                writer.option("header", "true").csv(str(path.absolute()))
        except Exception as e:
            raise self._failure(f'export of "{view}"', e) from e
