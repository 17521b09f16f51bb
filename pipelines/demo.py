"""demo: an embedded Postgres, an order-entry workload, six views on two engines, kept fresh before your eyes."""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import psycopg
from rich.console import Console
from rich.live import Live
from rich.table import Table

from connectors.postgres.connection import connect, format_lsn, parse_lsn
from pipelines import deployment as store
from pipelines.capture import Capture
from pipelines.config import Config, load_config
from pipelines.deploy import deploy, remove_warehouse
from pipelines.embedded import EmbeddedPostgres
from pipelines.run import limits
from pipelines.source_objects import drop_source_objects
from pipelines.verify import verify_with
from pipelines.warehouse import Warehouse

SCHEMA = """
CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL, city text, balance numeric(12,2));
CREATE TABLE product (id int PRIMARY KEY, name text NOT NULL, category text, price numeric(10,2));
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id int, placed timestamp NOT NULL, status text NOT NULL);
CREATE TABLE order_line (order_id bigint, line int, product_id int, quantity int, amount numeric(12,2),
                         PRIMARY KEY (order_id, line));
INSERT INTO customer SELECT i, 'customer ' || i, (ARRAY['Oslo','Bern','Lima','Kyoto','Accra'])[1 + i % 5], i % 1000
FROM generate_series(1, 2000) i;
INSERT INTO product SELECT i, 'product ' || i, (ARRAY['tea','cup','pot','tray'])[1 + i % 4], 1 + i % 90
FROM generate_series(1, 300) i;
INSERT INTO orders SELECT i, 1 + (i * 7919) % 2000, timestamp '2026-01-01' + i * interval '1 minute',
  (ARRAY['open','paid','sent'])[1 + i % 3] FROM generate_series(1, 20000) i;
INSERT INTO order_line SELECT i, l, 1 + (i * l * 31) % 300, 1 + (i + l) % 5, (i * l) % 500 + 0.25
FROM generate_series(1, 20000) i, generate_series(1, 3) l;
"""

VIEWS = {
    "city_totals": ("duckdb", "SELECT c.city, count(*) AS orders, sum(l.amount) AS revenue FROM customer c JOIN orders o ON "
                    "o.customer_id = c.id JOIN order_line l ON l.order_id = o.id WHERE o.status <> 'void' GROUP BY c.city"),
    "product_extremes": ("duckdb", "SELECT product_id, min(amount) AS lowest, max(amount) AS highest, avg(amount) AS mean "
                         "FROM order_line GROUP BY product_id"),
    "idle_customers": ("duckdb", "SELECT c.id, c.name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE "
                       "o.customer_id = c.id AND o.status = 'open')"),
    "latest_orders": ("duckdb", "SELECT customer_id, id, status FROM (SELECT o.*, row_number() OVER (PARTITION BY customer_id "
                      "ORDER BY placed DESC, id DESC) AS rn FROM orders o) t WHERE rn <= 3"),
    "category_by_status": ("spark", "SELECT p.category, o.status, sum(l.quantity) AS pieces FROM order_line l JOIN orders o ON "
                           "o.id = l.order_id JOIN product p ON p.id = l.product_id GROUP BY p.category, o.status"),
    "order_sizes": ("spark", "SELECT lines, count(*) AS orders FROM (SELECT order_id, count(*) AS lines FROM order_line GROUP BY "
                    "order_id) t GROUP BY lines"),
}


class Workload(threading.Thread):
    """Order entry at a steady rate: orders come, move on and are deleted; some transactions touch several tables."""

    def __init__(self, dsn: str, per_second: int = 40) -> None:
        super().__init__(daemon=True)
        self.dsn, self.pause, self.stopping = dsn, 1 / per_second, threading.Event()
        self.rows = 0

    def run(self) -> None:
        rng, next_id = random.Random(7), 1_000_000
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            while not self.stopping.is_set():
                start = time.monotonic()
                with conn.transaction():
                    kind = rng.random()
                    if kind < 0.5:
                        next_id += 1
                        lines = rng.randint(1, 5)
                        conn.execute("INSERT INTO orders VALUES (%s, %s, now()::timestamp, 'open')", (next_id, rng.randint(1, 2000)))
                        conn.execute("INSERT INTO order_line SELECT %s, l, 1 + (l * %s) %% 300, 1 + l %% 4, %s FROM generate_series(1, %s) l",
                                     (next_id, rng.randint(1, 999), rng.randint(1, 90000) / 100, lines))
                        self.rows += 1 + lines
                    elif kind < 0.8:
                        got = conn.execute("UPDATE orders SET status = CASE status WHEN 'open' THEN 'paid' WHEN 'paid' THEN 'sent' ELSE "
                                           "'void' END WHERE id IN (SELECT id FROM orders WHERE id >= %s ORDER BY id LIMIT 3)",
                                           (rng.randint(1, 20000),))
                        self.rows += got.rowcount
                    elif kind < 0.9:
                        got = conn.execute("UPDATE order_line SET amount = amount + 1.10 WHERE order_id = %s", (rng.randint(1, 20000),))
                        self.rows += got.rowcount
                    else:
                        victim = rng.randint(1, 20000)
                        got = conn.execute("DELETE FROM order_line WHERE order_id = %s", (victim,))
                        self.rows += got.rowcount + conn.execute("DELETE FROM orders WHERE id = %s", (victim,)).rowcount
                self.stopping.wait(max(0.0, self.pause - (time.monotonic() - start)))


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
        d = store.require(config.warehouse_path)
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
    (home / "tidemark.toml").write_text(f'[source]\ndsn = "{dsn}"\n\n[defaults]\nengine = "duckdb"\n')
    for name, (engine, sql) in VIEWS.items():
        engine = engine if spark else "duckdb"
        (home / "views" / f"{name}.sql").write_text(f"CREATE MATERIALIZED VIEW {name} WITH (engine = '{engine}') AS\n{sql};\n")
    return load_config(home)


def _write_sql(config: Config, folder: Path) -> None:
    from pipelines.explain import compiled, script

    folder.mkdir()
    for v in compiled(config.home, [], None, None):
        (folder / f"{v.name}.sql").write_text(script(v))


def _live(config: Config, dsn: str, seconds: int, out: Console) -> bool:
    warehouse = Warehouse(config, store.require(config.warehouse_path))
    capture = Capture(warehouse, limits(config))
    workload = Workload(dsn)
    workload.start()
    stop, landed, window = time.monotonic() + seconds, 0, [(time.monotonic(), 0)]
    terminal = sys.stdout.isatty()
    live = Live(console=out, refresh_per_second=2) if terminal else None
    if live:
        live.start()
    said = time.monotonic()
    try:
        while time.monotonic() < stop:
            done = capture.step(0.2)
            landed += done.changes if done else 0
            window.append((time.monotonic(), landed))
            window = [w for w in window if w[0] > time.monotonic() - 5]
            if time.monotonic() - said > (0.5 if terminal else 5):
                said = time.monotonic()
                table = _table(warehouse, capture, dsn, window)
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


def _table(warehouse: Warehouse, capture: Capture, dsn: str, window: list[tuple[float, int]]) -> Table:
    with connect(dsn) as c:
        row = c.execute("SELECT pg_current_wal_lsn()::text").fetchone()
        assert row is not None
        now = parse_lsn(row[0])
    span = max(window[-1][0] - window[0][0], 0.001)
    rate = (window[-1][1] - window[0][1]) / span
    t = Table(title=f"{rate:,.0f} rows/s captured; source at {format_lsn(now)}")
    for name in ("view", "engine", "frontier", "stale bytes", "stale s", "refresh ms"):
        t.add_column(name, justify="left" if name in ("view", "engine", "frontier") else "right", no_wrap=True)
    for v in warehouse.deployment.views:
        _, plan = warehouse.view(v.name)
        timings = getattr(warehouse.engine(v.engine), "timings", {})
        spent = sum(timings.get(s.name, 0.0) for s in plan.states) * 1000
        f = capture.frontiers[v.engine]
        t.add_row(v.name, v.engine, format_lsn(f), f"{max(now - f, 0):,}",
                  f"{time.time() - capture.fresh_at[v.engine]:.1f}", f"{spent:,.1f}")
    return t
