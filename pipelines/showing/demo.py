"""demo: an embedded Postgres, an order-entry workload, six views on two engines, kept fresh before your eyes."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from rich.console import Console
from rich.live import Live

from connectors.postgres.connection import current_lsn
from pipelines import deployment as deployments
from pipelines.applying.capture import BatchDone, Capture
from pipelines.applying.catching_up import limits
from pipelines.config import Config, load_config
from pipelines.deploying.deploy import deploy
from pipelines.deploying.first import remove_warehouse
from pipelines.deploying.source_objects import drop_source_objects
from pipelines.observe.observer import refresh_seconds, views_of
from pipelines.observe.reason import stored
from pipelines.observe.state import RunState
from pipelines.observe.table import LiveTable
from pipelines.showing.embedded import EmbeddedPostgres
from pipelines.showing.shop import SCHEMA, VIEWS, Workload
from pipelines.verifying.verify import verify_with
from pipelines.warehouse import Warehouse


def demo(seconds: int, spark: bool, keep: bool) -> int:
    """Exit status: 0 only if every view was verified equal to the source."""
    out = Console()
    home = Path(tempfile.mkdtemp(prefix="tidemark-demo-"))
    with EmbeddedPostgres() as pg:
        out.print(f"Postgres: {pg.source}")
        with psycopg.connect(pg.dsn, autocommit=True) as c:
            c.execute("CREATE DATABASE shop")
        dsn = psycopg.conninfo.make_conninfo(pg.dsn, dbname="shop")
        with psycopg.connect(dsn) as c:
            c.execute(SCHEMA)
        config = _project(home, dsn, spark)
        started = time.monotonic()
        deployed = deploy(config)
        for v in deployed.views:
            out.print(f"  {v.name}: {v.maintenance} on {v.engine}")
        out.print(f"deployed in {time.monotonic() - started:.1f} s; the workload starts")
        equal = _live(config, dsn, seconds, out)
        d = deployments.require(config.warehouse_path)
        sql = home / "sql"
        _write_sql(config, sql)
        drop_source_objects(dsn, d)
        if keep:
            out.print(f"project kept in {home}; the generated SQL is in {sql}")
        else:
            kept = Path(tempfile.mkdtemp(prefix="tidemark-sql-"))
            for p in sorted(sql.iterdir()):
                shutil.copy(p, kept)
                out.print(f"generated SQL: {kept / p.name} ({len(p.read_text().splitlines())} lines)", soft_wrap=True)
            remove_warehouse(config)
            shutil.rmtree(home, ignore_errors=True)
    out.print("all views equal the source" if equal else "some views DIFFER from the source")
    return 0 if equal else 1


def _project(home: Path, dsn: str, spark: bool) -> Config:
    (home / "views").mkdir()
    (home / "tidemark.toml").write_text(
        f'[source]\ndsn = "{dsn}"\n\n[defaults]\nengine = "duckdb"\n\n[spark]\nlocal_memory = "none"\n'
    )  # so little would be kept by the driver, and Spark is to be seen
    for name, (engine, sql) in VIEWS.items():
        engine = engine if spark else "duckdb"
        (home / "views" / f"{name}.sql").write_text(
            f"CREATE MATERIALIZED VIEW {name} WITH (engine = '{engine}') AS\n{sql};\n"
        )
    return load_config(home)


def _write_sql(config: Config, folder: Path) -> None:
    from pipelines.asking.explain import compiled, script

    folder.mkdir()
    for v in compiled(config.home, [], None, None):
        (folder / f"{v.name}.sql").write_text(script(v))


def _live(config: Config, dsn: str, seconds: int, out: Console) -> bool:
    warehouse = Warehouse(config, deployments.require(config.warehouse_path))
    capture = Capture(warehouse, limits(config))
    state = RunState()
    state.started(warehouse.deployment.slot, views_of(warehouse.deployment), capture.frontiers)
    workload = Workload(dsn)
    workload.start()
    terminal = sys.stdout.isatty()
    live = Live(console=out, refresh_per_second=2) if terminal else None
    if live:
        live.start()
    stop, said = time.monotonic() + seconds, time.monotonic()
    try:
        while time.monotonic() < stop:
            _tell(state, capture, capture.step(0.2))
            if time.monotonic() - said > (0.5 if terminal else 5):
                said = time.monotonic()
                _look(state, warehouse, capture, dsn)
                table = LiveTable(state.snapshot())
                if live:
                    live.update(table)
                else:
                    out.print(table)
        workload.stopping.set()
        workload.join(10)
        if live:
            live.stop()
        out.print(f"the workload wrote {workload.rows} rows; verifying all views at one LSN")
        results = verify_with(config, warehouse, capture, [], False)
        for r in results:
            out.print("  " + r.line())
        return bool(results) and all(r.equal for r in results)
    finally:
        workload.stopping.set()
        if live:
            live.stop()
        capture.close()
        warehouse.close()


def _tell(state: RunState, capture: Capture, done: BatchDone | None) -> None:
    """What a turn of the loop brought."""
    state.beat()
    if done is not None:
        state.batch(done.changes, done.rows, done.seconds, capture.frontiers)
    for engine, at in capture.fresh_at.items():
        state.landed(engine, 0, capture.frontiers[engine])
        if at:
            state.fresh(engine, at)


def _look(state: RunState, warehouse: Warehouse, capture: Capture, dsn: str) -> None:
    """What is asked for only when it is shown: where the source is, and what the last batch spent on each view."""
    at, lsn = time.time(), current_lsn(dsn)
    capture.freshness.said(at, lsn)
    state.source(lsn, None, at)
    state.refreshed(refresh_seconds(warehouse))
    for v in warehouse.deployment.views:
        if v.error:
            state.set_aside(v.name, stored(v.error))
