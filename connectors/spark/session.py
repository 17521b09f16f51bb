"""One long-lived Spark session with Delta Lake: where Java and the Delta jars come from, and its settings."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compiler.errors import TidemarkError
from connectors.java import java_home

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.variant.allowDuplicateKeys": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.properties.defaults.dataSkippingNumIndexedCols": "4",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # of a table that nothing changed for a week, readers may be at the version before the one that a batch is making
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.schema.autoMerge.enabled": "false",
    "spark.databricks.delta.merge.repartitionBeforeWrite.enabled": "false",
    "spark.sql.parquet.compression.codec": "snappy",
    # tasks of a VACUUM; 10,000 by default, also for one file
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    "spark.sql.cteRecursionLevelLimit": "100000",
    "spark.sql.cteRecursionRowLimit": "-1",
    "spark.hadoop.fs.permissions.umask-mode": "077",  # Hadoop sets modes by itself, whatever the mask of the process is
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m "
    "-Dlog4j2.level=ERROR",
    "spark.sql.codegen.wholeStage": "true",
}
ONE_MACHINE = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.adaptive.enabled": "false",
}
CLUSTER = {"spark.sql.adaptive.enabled": "true"}  # Spark counts its cores, and fits partitions to what they hold


def in_this_process(master: str) -> bool:
    """Whether the executors of that master are."""
    return re.match(r"local(\[|$)", master) is not None


def delta_version() -> str:
    return importlib.metadata.version("delta-spark")


def cached_jars() -> list[Path]:
    """Delta jars fetched before into the cache folder (scripts/fetch-delta puts them there)."""
    folder = Path(os.environ.get("TIDEMARK_JARS", Path.home() / ".cache" / "tidemark" / "jars")) / delta_version()
    return sorted(folder.glob("*.jar"))


def start(master: str, jars: str, extra: dict[str, str]) -> Any:
    """The session; raises TidemarkError where pyspark, Java or the jars are missing."""
    try:
        from delta import configure_spark_with_delta_pip
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise TidemarkError(
            "views on Spark need pyspark and delta-spark", code="no_spark", hint="pip install 'tidemark[spark]'"
        ) from e
    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = home
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("tidemark").master(master)
    for k, v in {**SETTINGS, **(ONE_MACHINE if in_this_process(master) else CLUSTER), **extra}.items():
        builder = builder.config(k, v)
    # Spark's own handler ends whatever runs; what an interrupt means is for the command to say
    asked = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    found = jars or ",".join(map(str, cached_jars()))
    try:
        builder = builder.config("spark.jars", found) if found else configure_spark_with_delta_pip(builder)
        with _no_python_in_the_child():
            session = builder.getOrCreate()
    except Exception as e:
        raise TidemarkError(
            "Spark did not start",
            detail=str(e).strip().split("\n")[0],
            code="spark_failed",
            hint="The Delta jars come from Maven Central; scripts/fetch-delta fetches them once. "
            "[spark] jars in tidemark.toml names them directly.",
        ) from e
    finally:
        if asked is not None:
            signal.signal(signal.SIGINT, asked)
    session.sparkContext.setLogLevel("ERROR")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # where Java is lost, `healing` tells of it
    return session


@contextmanager
def _no_python_in_the_child() -> Iterator[None]:
    """PySpark keeps an interrupt from Java by Python that runs between fork and exec. In the child that lets go of what
    other threads hold, connections of DuckDB among it, whose own threads are not there: the child crashes. A process
    group does the same without."""
    from pyspark import java_gateway

    module: Any = java_gateway
    before = module.Popen

    def started(command: list[str], preexec_fn: object = None, **more: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, process_group=0, **more)

    module.Popen = started
    try:
        yield
    finally:
        module.Popen = before
