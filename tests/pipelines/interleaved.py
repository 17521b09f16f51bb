"""Transactions, upqueries to the source, batches and evictions, in whatever order; then what is kept is compared with
Postgres."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pyarrow as pa

from connectors.postgres.connection import current_lsn
from pipelines.applying.capture import Capture
from pipelines.applying.catching_up import limits
from pipelines.applying.upquery import dismiss, fill
from pipelines.asking.reading import LocalReader
from pipelines.warehouse import Warehouse
from tests.project import Project

WRITERS = 3
KEYS, ROWS = 6, 14  # few, so that transactions meet
Row = tuple[Any, ...]


class Interleaving:
    """One random sequence over the view `votes` of articles and votes."""

    def __init__(self, dsn: str, warehouse: Warehouse, capture: Capture, seed: int) -> None:
        self.dsn, self.warehouse, self.capture, self.r = dsn, warehouse, capture, random.Random(seed)
        (self.name,) = warehouse.used_engines()
        self.engine = warehouse.engine(self.name)
        self.writers = [psycopg.connect(dsn) for _ in range(WRITERS)]
        for c in self.writers:
            c.execute("SET lock_timeout = '5ms'")
            c.commit()
        self.done: list[str] = []

    def play(self, steps: int = 14) -> None:
        """Random steps; then everything that is open commits, and all is applied."""
        moves: list[tuple[Callable[[], None], int]] = [
            (self.write, 8),
            (self.end, 4),
            (self.ask, 4),
            (self.apply, 3),
            (self.evict, 1),
        ]
        for _ in range(steps):
            (move,) = self.r.choices([m for m, _ in moves], [w for _, w in moves])
            move()
        for c in self.writers:
            c.commit()
            c.close()
        self.capture.catch_up(current_lsn(self.dsn))

    def write(self) -> None:
        n = self.r.randrange(WRITERS)
        k, v, w = self.r.randrange(KEYS), self.r.randrange(ROWS), self.r.randrange(100)
        choices = [
            f"UPDATE vote SET article = {k} WHERE id = {v}",
            f"UPDATE vote SET weight = {w} WHERE id = {v}",
            f"INSERT INTO vote VALUES ({v}, {k}, {w}) ON CONFLICT (id) DO UPDATE SET article = excluded.article",
            f"DELETE FROM vote WHERE id = {v}",
            f"UPDATE vote SET id = {ROWS + w} WHERE id = {v}",
            f"UPDATE article SET title = '{w}' WHERE id = {k}",
            f"DELETE FROM article WHERE id = {k}",
            f"INSERT INTO article VALUES ({k}, '{w}') ON CONFLICT DO NOTHING",
            f"SAVEPOINT s; UPDATE vote SET article = {k} WHERE id = {v}; ROLLBACK TO s",
            f"SAVEPOINT s; UPDATE vote SET article = {k} WHERE id = {v}; RELEASE s",
        ]
        if self.r.random() < 0.02:
            choices = ["TRUNCATE vote"]
        statement = self.r.choice(choices)
        self.done.append(f"{n}: {statement}")
        try:
            self.writers[n].execute(statement)
        except psycopg.Error:  # somebody else has the row
            self.writers[n].rollback()
            self.done.append(f"{n}: undone")

    def end(self) -> None:
        n = self.r.randrange(WRITERS)
        if self.r.random() < 0.85:
            self.done.append(f"{n}: COMMIT")
            self.writers[n].commit()
        else:
            self.done.append(f"{n}: ROLLBACK")
            self.writers[n].rollback()

    def ask(self) -> None:
        keys = {self.r.randrange(KEYS) for _ in range(self.r.randint(1, 2))}
        self.done.append(f"ask {sorted(keys)}")
        # a table that is being truncated cannot be read
        blocked = any("TRUNCATE" in x for x in self.done)
        if blocked:
            for c in self.writers:
                c.commit()
        fill(self.warehouse, "votes", pa.table({"c0": list(map(str, keys))}), self.capture.recent)

    def apply(self) -> None:
        most = self.r.randint(0, 3)
        self.done.append(f"apply {most}")
        left = [most]

        def admit(_: object) -> bool:
            left[0] -= 1
            return left[0] >= 0

        self.capture.step(0.005, None, admit)

    def evict(self) -> None:
        if keys := sorted(self.kept()):
            k = self.r.choice(keys)
            self.done.append(f"evict {k}")
            dismiss(self.warehouse, "votes", pa.table({"c0": [str(k)]}))

    def kept(self) -> list[int]:
        asked = self.warehouse.view("votes")[1].asked
        assert asked is not None
        return [int(x) for x in self.engine.asked_for(asked)["id"].to_pylist()]

    def answers(self) -> tuple[list[Row], list[Row]]:
        """What is kept, and what Postgres has of these keys."""
        keys = self.kept()
        listed = ", ".join(map(str, keys)) or "NULL"
        ours = LocalReader(self.warehouse).query(f"SELECT * FROM votes WHERE id IN ({listed})").to_pylist()
        with psycopg.connect(self.dsn) as c:
            theirs = c.execute(
                "SELECT a.id, a.title, count(v.id) AS n, sum(v.weight) AS s, max(v.weight) AS top FROM article a "
                "LEFT JOIN vote v ON v.article = a.id WHERE a.id = ANY (%s) GROUP BY a.id, a.title",
                (keys,),
            ).fetchall()
        return sorted(tuple(r.values()) for r in ours), sorted(theirs)

    def strangers(self) -> int:
        """Rows that are kept of keys that are not."""
        holds = self.warehouse.holds(self.name).values()
        assert self.engine.key_rows is not None
        return sum(self.engine.key_rows.strangers(h).rows.num_rows for h in holds)

    def close(self) -> None:
        for c in self.writers:
            with suppress(psycopg.Error):
                c.close()


def assert_interleaved(p: Project, seeds: range) -> None:
    """Whatever commits between the snapshot of a key and its way through the stream, nothing is counted twice or
    missed. The tables are emptied first."""
    p.source(
        "DELETE FROM vote", "DELETE FROM article", "INSERT INTO article SELECT i, 't' FROM generate_series(0, 5) i"
    )
    p.catch_up()
    warehouse = Warehouse(p.config, p.deployed)
    capture = Capture(warehouse, limits(p.config))
    try:
        for seed in seeds:
            one = Interleaving(p.dsn, warehouse, capture, seed)
            try:
                one.play()
                ours, theirs = one.answers()
                assert ours == theirs, "\n".join([f"seed {seed}", *one.done])
                assert not one.strangers()
            finally:
                one.close()
    finally:
        capture.close()
        warehouse.close()
