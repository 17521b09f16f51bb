"""An order-entry workload: transactions at a steady rate, until it is told to stop.

PGDSN says where, RATE how many transactions a second, SECONDS for how long (0: without end).
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

import psycopg

STATUSES = ("open", "paid", "shipped")


def some_order(conn: psycopg.Connection) -> int:
    """An order that was there a moment ago, about uniformly chosen; 0 when there is none."""
    row = conn.execute(
        "WITH r AS (SELECT min(order_id) AS a, max(order_id) AS b FROM orders) "
        "SELECT order_id FROM orders, r WHERE order_id >= a + random() * (b - a) ORDER BY order_id LIMIT 1"
    ).fetchone()
    return row[0] if row else 0


def place(conn: psycopg.Connection) -> None:
    """A customer orders one to five products and is charged."""
    customer = random.randint(1, 500)
    row = conn.execute(
        "INSERT INTO orders (customer_id, status) VALUES (%s, 'open') RETURNING order_id", (customer,)
    ).fetchone()
    assert row is not None
    for line in range(1, random.randint(1, 5) + 1):
        conn.execute(
            "INSERT INTO order_line SELECT %s, %s, product_id, %s, price FROM product WHERE product_id = %s",
            (row[0], line, random.randint(1, 9), random.randint(1, 200)),
        )
    conn.execute(
        "UPDATE customer SET balance = balance - (SELECT sum(quantity * price) FROM order_line WHERE order_id = %s) "
        "WHERE customer_id = %s",
        (row[0], customer),
    )


def advance(conn: psycopg.Connection) -> None:
    """An order changes its status."""
    conn.execute("UPDATE orders SET status = %s WHERE order_id = %s", (random.choice(STATUSES), some_order(conn)))


def amend(conn: psycopg.Connection) -> None:
    """The quantities of an order change."""
    conn.execute("UPDATE order_line SET quantity = 1 + (quantity + 1) %% 9 WHERE order_id = %s", (some_order(conn),))


def correct(conn: psycopg.Connection) -> None:
    """An order loses its last line, a product gets a new price."""
    conn.execute(
        "DELETE FROM order_line WHERE order_id = %(o)s AND line_no > 1 AND line_no = "
        "(SELECT max(line_no) FROM order_line WHERE order_id = %(o)s)",
        {"o": some_order(conn)},
    )
    conn.execute(
        "UPDATE product SET price = round(price * %s, 2) + 0.01 WHERE product_id = %s",
        (random.choice(("0.95", "1.05")), random.randint(1, 200)),
    )


def purge(conn: psycopg.Connection) -> None:
    """The four oldest orders go, with their lines: about as many as are placed meanwhile."""
    conn.execute("DELETE FROM orders WHERE order_id IN (SELECT order_id FROM orders ORDER BY order_id LIMIT 4)")


MIX: dict[Callable[[psycopg.Connection], None], int] = {place: 40, advance: 25, amend: 15, correct: 10, purge: 10}


def main() -> None:
    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True

    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, stop)
    rate, seconds = float(os.environ.get("RATE", "50")), float(os.environ.get("SECONDS", "0"))
    done, start = 0, time.monotonic()
    said = start
    with psycopg.connect(os.environ["PGDSN"], autocommit=True, application_name="workload") as conn:
        while not stopping and not (seconds and time.monotonic() - start >= seconds):
            with conn.transaction():
                random.choices(list(MIX), list(MIX.values()))[0](conn)
            done += 1
            if (now := time.monotonic()) - said >= 10:
                print(f"{done} transactions, {done / (now - start):.0f} a second", flush=True)
                said = now
            time.sleep(max(0.0, start + done / rate - time.monotonic()))
    print(f"{done} transactions written", flush=True)


if __name__ == "__main__":
    main()
