"""The demo's shop: tables, views, and a workload that takes orders."""

from __future__ import annotations

import random
import threading
import time

import psycopg

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
    "city_totals": (
        "duckdb",
        "SELECT c.city, count(*) AS orders, sum(l.amount) AS revenue FROM customer c JOIN orders o ON "
        "o.customer_id = c.id JOIN order_line l ON l.order_id = o.id WHERE o.status <> 'void' GROUP BY c.city",
    ),
    "product_extremes": (
        "duckdb",
        "SELECT product_id, min(amount) AS lowest, max(amount) AS highest, avg(amount) AS mean "
        "FROM order_line GROUP BY product_id",
    ),
    "idle_customers": (
        "duckdb",
        "SELECT c.id, c.name FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE "
        "o.customer_id = c.id AND o.status = 'open')",
    ),
    "latest_orders": (
        "duckdb",
        "SELECT customer_id, id, status FROM (SELECT o.*, row_number() OVER (PARTITION BY customer_id "
        "ORDER BY placed DESC, id DESC) AS rn FROM orders o) t WHERE rn <= 3",
    ),
    "category_by_status": (
        "spark",
        "SELECT p.category, o.status, sum(l.quantity) AS pieces FROM order_line l JOIN orders o ON "
        "o.id = l.order_id JOIN product p ON p.id = l.product_id GROUP BY p.category, o.status",
    ),
    "order_sizes": (
        "spark",
        "SELECT lines, count(*) AS orders FROM (SELECT order_id, count(*) AS lines FROM order_line GROUP BY "
        "order_id) t GROUP BY lines",
    ),
}


class Workload(threading.Thread):
    """Order entry at a steady rate: orders come, move on and are deleted; some transactions touch several tables."""

    def __init__(self, dsn: str, per_second: int = 40) -> None:
        super().__init__(daemon=True)
        self.dsn, self.pause, self.stopping = dsn, 1 / per_second, threading.Event()
        self.rows = 0

    def run(self) -> None:
        """Places, pays, changes and deletes orders until it is stopped; `rows` counts what was changed."""
        rng, next_id = random.Random(7), 1_000_000
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            while not self.stopping.is_set():
                start = time.monotonic()
                with conn.transaction():
                    kind = rng.random()
                    if kind < 0.5:
                        next_id += 1
                        lines = rng.randint(1, 5)
                        conn.execute(
                            "INSERT INTO orders VALUES (%s, %s, now()::timestamp, 'open')",
                            (next_id, rng.randint(1, 2000)),
                        )
                        conn.execute(
                            "INSERT INTO order_line SELECT %s, l, 1 + (l * %s) %% 300, 1 + l %% 4, %s FROM "
                            "generate_series(1, %s) l",
                            (next_id, rng.randint(1, 999), rng.randint(1, 90000) / 100, lines),
                        )
                        self.rows += 1 + lines
                    elif kind < 0.8:
                        got = conn.execute(
                            "UPDATE orders SET status = CASE status WHEN 'open' THEN 'paid' WHEN 'paid' THEN 'sent' "
                            "ELSE "
                            "'void' END WHERE id IN (SELECT id FROM orders WHERE id >= %s ORDER BY id LIMIT 3)",
                            (rng.randint(1, 20000),),
                        )
                        self.rows += got.rowcount
                    elif kind < 0.9:
                        got = conn.execute(
                            "UPDATE order_line SET amount = amount + 1.10 WHERE order_id = %s", (rng.randint(1, 20000),)
                        )
                        self.rows += got.rowcount
                    else:
                        victim = rng.randint(1, 20000)
                        got = conn.execute("DELETE FROM order_line WHERE order_id = %s", (victim,))
                        self.rows += got.rowcount + conn.execute("DELETE FROM orders WHERE id = %s", (victim,)).rowcount
                self.stopping.wait(max(0.0, self.pause - (time.monotonic() - start)))
