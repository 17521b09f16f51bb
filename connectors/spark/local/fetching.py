"""Rows of bases by keys, through Spark: the keys are sent to every task, the files are read where they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from connectors.spark.driver import Driver
from connectors.spark.healing import Healing
from connectors.spark.local.dist import Request

OF = "_of"  # which request a row answers


class SparkReader:
    """One job a call. `jobs` counts them."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.healing = driver, Healing(driver.mend)
        self.jobs = 0

    def rows(self, requests: Sequence[Request]) -> list[pa.Table]:
        found = self.healing.run("a fetch", lambda: self._found(requests))
        self.jobs += 1
        return [self._of(found, i, r) for i, r in enumerate(requests)]

    def _found(self, requests: Sequence[Request]) -> pa.Table:
        session = self.driver.session
        frames = [self._frame(session, i, r) for i, r in enumerate(requests)]
        return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames).toArrow()

    def _frame(self, session: Any, i: int, r: Request) -> Any:
        from pyspark.sql.functions import broadcast, col, lit
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(pq.read_schema(r.files[0]), prefer_timestamp_ntz=True)
        base = session.read.schema(schema).parquet(*map(str, r.files)).alias("b")
        keys = broadcast(session.createDataFrame(r.keys)).alias("k")
        on = reduce(
            lambda a, b: a & b,
            [col(f"b.{_q(c)}").eqNullSafe(col(f"k._k{j}").cast(schema[c].dataType)) for j, c in enumerate(r.by)],
        )
        met = base.join(keys, on, "left_semi")
        return met.select(lit(i).alias(OF), *(col(f"b.{_q(c)}").alias(f"_{i}_{n}") for n, c in enumerate(r.columns)))

    def _of(self, found: pa.Table, i: int, r: Request) -> pa.Table:
        mine = found.filter(pc.equal(found[OF], i)) if found.num_rows else found
        return mine.select([f"_{i}_{n}" for n in range(len(r.columns))]).rename_columns(r.columns)


def _q(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
