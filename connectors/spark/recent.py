"""Views that were read lately: a statement that names the versions it reads has one answer, whoever asks it again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import pyarrow as pa

LIMIT = 64 << 20  # bytes in all


class Recent:
    """Answers by statement; those longest not asked for go first. `forget` when tables are made anew."""

    def __init__(self) -> None:
        self.lock, self.tables, self.size, self.age = Lock(), OrderedDict[str, pa.Table](), 0, 0

    def get(self, statement: str) -> pa.Table | None:
        with self.lock:
            if statement in self.tables:
                self.tables.move_to_end(statement)
            return self.tables.get(statement)

    def put(self, statement: str, rows: pa.Table, age: int) -> None:
        """`age` is that before the rows were read: what was forgotten meanwhile is not kept."""
        with self.lock:
            if age != self.age or statement in self.tables or rows.nbytes > LIMIT:
                return
            self.tables[statement] = rows
            self.size += rows.nbytes
            while self.size > LIMIT:
                self.size -= self.tables.popitem(last=False)[1].nbytes

    def forget(self) -> None:
        with self.lock:
            self.tables.clear()
            self.size, self.age = 0, self.age + 1
