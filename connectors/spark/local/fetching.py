"""Rows of bases by keys, through Spark: the keys are sent to every task, the files are read where they are.

Keys are told in the query itself where that can be said, so that it is one job of one stage. Others are broadcast,
which is a job more for each request. What is too much for the driver (`spark.driver.maxResultSize`) the executors write
to files, which it reads from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

from connectors.spark.driver import Driver
from connectors.spark.failures import TOO_LARGE
from connectors.spark.healing import Healing
from connectors.spark.local.dist import Request, Rows

OF = "_of"  # which request a row answers
LISTED, LONGEST = 10_000, 1 << 20  # keys, and characters of them, that are told in the query: more are broadcast
LOOSE = 4  # times as many combinations of several columns' values as there are keys: else too much is met by chance
SETTINGS = {  # a list is planned as one set, and not compiled anew with each of its values
    "spark.sql.optimizer.inSetConversionThreshold": "0",
    "spark.sql.optimizer.inSetSwitchThreshold": "0",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # as bases have them
}


class SparkReader:
    """A query a call. `jobs` counts them. Files go to `folder`, which executors see, until the call after the next."""

    def __init__(self, driver: Driver, folder: Path) -> None:
        self.driver, self.healing, self.folder = driver, Healing(driver.mend), folder
        self.jobs = self.by_files = 0
        self.written: list[tuple[int, Path]] = []  # by the call that they were made for

    def rows(self, requests: Sequence[Request]) -> list[Rows]:
        if not self.jobs:  # what an earlier process left
            shutil.rmtree(self.folder, ignore_errors=True)
        while self.written and self.written[0][0] < self.jobs - 1:
            shutil.rmtree(self.written.pop(0)[1], ignore_errors=True)
        found = self.healing.run("a fetch", lambda: self._found(requests))
        self.jobs += 1
        return found

    def _found(self, requests: Sequence[Request]) -> list[Rows]:
        session = self.driver.session
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        frames = [self._frame(session, i, r) for i, r in enumerate(requests)]
        try:
            found = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames).toArrow()
        except Exception as e:
            if TOO_LARGE not in str(e):
                raise
            self.by_files += 1
            self.written.append((self.jobs, self.folder / str(self.by_files)))
            return [self._in_files(frame, i, r) for i, (frame, r) in enumerate(zip(frames, requests, strict=True))]
        return [self._of(found, i, r) for i, r in enumerate(requests)]

    def _in_files(self, frame: Any, i: int, r: Request) -> Rows:
        """By the executors, to be read piece by piece."""
        from pyspark.sql.functions import col

        target = self.written[-1][1] / str(i)
        frame.select(*(col(f"_{i}_{n}").alias(c) for n, c in enumerate(r.columns))).write.mode("overwrite").parquet(
            str(target)
        )
        return dataset(sorted(target.glob("*.parquet")), format="parquet")

    def _frame(self, session: Any, i: int, r: Request) -> Any:
        from pyspark.sql.functions import broadcast, col, lit
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(pq.read_schema(r.files[0]), prefer_timestamp_ntz=True)
        base = session.read.schema(schema).parquet(*map(str, r.files)).alias("b")
        items = [lit(i).alias(OF), *(col(f"b.{_q(c)}").alias(f"_{i}_{n}") for n, c in enumerate(r.columns))]
        if (told := listed(r, schema)) is not None:
            return base.where(told).select(*items)
        keys = broadcast(session.createDataFrame(r.keys)).alias("k")
        on = reduce(
            lambda a, b: a & b,
            [col(f"b.{_q(c)}").eqNullSafe(col(f"k._k{j}").cast(schema[c].dataType)) for j, c in enumerate(r.by)],
        )
        return base.join(keys, on, "left_semi").select(*items)

    def _of(self, found: pa.Table, i: int, r: Request) -> pa.Table:
        mine = found.filter(pc.equal(found[OF], i)) if found.num_rows else found
        return mine.select([f"_{i}_{n}" for n in range(len(r.columns))]).rename_columns(r.columns)


def listed(r: Request, schema: Any) -> str | None:
    """A condition in Spark's SQL that the rows with the keys meet, and perhaps others; None where there is none that is
    short. `schema`: Spark's, of the base."""
    if r.keys.num_rows > LISTED:
        return None
    parts, met = [], 1
    for j, name in enumerate(r.by):
        values = pc.unique(_plain(r.keys[f"_k{j}"]))
        if (texts := _literals(values, schema[name].dataType.typeName())) is None:
            return None
        met *= len(values)
        told = [f"{_q(name)} IN ({', '.join(texts)})"] if texts else []
        told += [f"{_q(name)} IS NULL"] if values.null_count else []
        parts.append(f"({' OR '.join(told) or 'false'})")
    if met > LOOSE * max(r.keys.num_rows, 1) or sum(map(len, parts)) > LONGEST:
        return None
    return " AND ".join(parts) or None


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts in the layout whose NULLs are told apart from '' when they are made distinct."""
    return values.cast(pa.string()) if pa.types.is_string_view(values.type) else values


def _literals(values: pa.Array, column: str) -> list[str] | None:
    """In Spark's SQL, but for NULL, as values of a column of that type; None where it may compare them otherwise."""
    t, kept = values.type, values.drop_null()
    if pa.types.is_integer(t) and column in ("byte", "short", "integer", "long"):
        return [str(v) for v in kept.to_pylist()]
    if pa.types.is_date(t) and column == "date" and _plain_dates(kept):
        return [f"DATE'{v.isoformat()}'" for v in kept.to_pylist()]
    if column == "string" and (pa.types.is_string(t) or pa.types.is_large_string(t)):
        return [_quoted(v) for v in kept.to_pylist()]
    return None


def _quoted(text: str) -> str:
    """A literal; what would be a variable's name in `${…}` is none."""
    for char, escaped in (("\\", "\\\\"), ("'", "\\'"), ("$", "\\u0024")):
        text = text.replace(char, escaped)
    return f"'{text}'"


def _plain_dates(values: pa.Array) -> bool:
    """Whether Python has all of them: it has no year 0 and none past 9999."""
    days = values.cast(pa.int32()).to_numpy(zero_copy_only=False)
    return bool(((days >= -719_162) & (days <= 2_932_896)).all())


def _q(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
