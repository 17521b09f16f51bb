"""Which engine keeps what, by the configuration and the deployment: opened here, printed for by the printer it is
given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compiler.catalog import mirror_name
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine
from connectors.spark.session import in_this_process
from dialects.dialect import Dialect
from dialects.duckdb import DUCKDB
from dialects.printer import Printer
from dialects.spark import SPARK
from dialects.spark.printer import SparkPrinter
from pipelines.config import Config
from pipelines.deployment import Deployment
from pipelines.kinds import EXECUTORS, KINDS, ONE_MACHINE

if TYPE_CHECKING:
    from connectors.spark.local.dist import Reader
    from connectors.spark.wide import Executors


def dialect(name: str, location: str) -> Dialect:
    """What an engine's statements are written in; those of what is Local are the driver's DuckDB's."""
    return DUCKDB if KINDS[name].in_process(location) else SPARK


def printer(name: str, path: Path, d: Deployment) -> Printer:
    """For an engine of the warehouse at `path`."""
    kind = KINDS[name]
    return Printer(DUCKDB) if kind.in_process(d.location) else SparkPrinter(path / kind.data)


def _reader(config: Config) -> Reader:
    """Who fetches rows of what is Dist: Spark, unless its executors are this process."""
    root = config.warehouse_path / EXECUTORS.data
    if in_this_process(config.spark.master):
        from connectors.spark.local.near import NearReader

        return NearReader(root)
    from connectors.spark.driver import Driver
    from connectors.spark.local.fastest import FastestReader
    from connectors.spark.local.fetching import SparkReader
    from connectors.spark.local.tasks import TaskReader

    driver = Driver(config.spark.master, config.spark.jars, config.spark.settings)
    return FastestReader(TaskReader(driver, root), SparkReader(driver, root / "fetched"))


def executors(config: Config) -> Executors | None:
    """Those that copy tables; None where they are this process, which does it itself."""
    if in_this_process(config.spark.master):
        return None
    from connectors.spark.driver import Driver
    from connectors.spark.wide import Executors

    driver = Driver(config.spark.master, config.spark.jars, config.spark.settings)
    return Executors(driver, (config.warehouse_path / EXECUTORS.data).absolute())


def opened(name: str, config: Config, d: Deployment, plans: list[ViewPlan], read_only: bool) -> Engine:
    """Raises TidemarkError where it cannot be."""
    path = config.warehouse_path
    prints = printer(name, path, d)
    if name == ONE_MACHINE.name:
        from connectors.duckdb.engine import DuckDBEngine

        return DuckDBEngine(
            path / ONE_MACHINE.data,
            prints,
            read_only,
            index_memory=config.duckdb.index_bytes,
            index_rows=config.duckdb.index_rows,
        )
    tables = [d.mirrored(name, t) for t in d.tables.get(name, [])]
    if EXECUTORS.in_process(d.location):
        try:
            from connectors.spark.local.copies import Store
            from connectors.spark.local.engine import LocalEngine
        except ModuleNotFoundError as e:
            raise TidemarkError(
                "views on Spark need deltalake", code="no_spark", hint="pip install 'tidemark[spark]'"
            ) from e
        return LocalEngine(
            path / EXECUTORS.data,
            prints,
            tables,
            plans,
            read_only,
            dist=[mirror_name(t) for t in d.dist],
            by_key=[mirror_name(t) for t in d.by_key.get(name, {})],
            reader=_reader(config),
            index_memory=config.duckdb.index_bytes,
            index_rows=config.duckdb.index_rows,
            state_memory=None if config.spark.alone else config.spark.local_bytes,
            executors=None if read_only else executors(config),
            copies=Store(config.spark.copies, config.spark.settings) if config.spark.copies else None,
        )
    from connectors.spark.engine import SparkEngine
    from connectors.spark.store import Store as Tables

    assert isinstance(prints, SparkPrinter)
    spark = config.spark
    folder = path / EXECUTORS.data
    store = Tables(folder, prints, spark.master, spark.jars, spark.settings, read_only, tables)
    return SparkEngine(store, plans, None if read_only else executors(config))
