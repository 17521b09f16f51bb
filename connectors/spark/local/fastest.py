"""Rows of bases by keys on a cluster: by indexes in its tasks or by Spark's query, whichever was faster so far."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from enum import Enum
from time import perf_counter

import pyarrow as pa

from compiler.errors import TidemarkError
from connectors.duckdb.ways import Kind, Ways
from connectors.spark.failures import TOO_LARGE, last_line
from connectors.spark.local.dist import Request, Rows
from connectors.spark.local.fetching import SparkReader
from connectors.spark.local.tasks import TaskReader

log = logging.getLogger("tidemark")
FAILURES = 2  # calls in a row that tasks fail: then they are asked no more


class Means(Enum):
    TASKS = "tasks"
    QUERY = "query"


class FastestReader:
    """By what calls of a kind took: the bases and columns that are asked for, and how many digits the number of keys
    has. While tasks make indexes they are taken, and what they take then does not count."""

    def __init__(self, tasks: TaskReader, query: SparkReader) -> None:
        self.tasks, self.query = tasks, query
        self.ways, self.failed = Ways[Means](), 0
        self.queried: set[Kind] = set()  # the first query of a kind is compiled, and does not count

    @property
    def jobs(self) -> int:
        return self.tasks.jobs + self.query.jobs

    def rows(self, requests: Sequence[Request]) -> list[Rows]:
        kind = _kind(requests)
        means = self.ways.choose(kind, [*Means]) if self.failed < FAILURES else Means.QUERY
        begun = perf_counter()
        found = self._by_tasks(requests) if means is Means.TASKS else None
        if found is None:
            found = self.query.rows(requests)
        elif self.tasks.awaited:
            return found
        if means is Means.QUERY and kind not in self.queried:
            self.queried.add(kind)
            return found
        self.ways.took(kind, means, perf_counter() - begun)
        return found

    def _by_tasks(self, requests: Sequence[Request]) -> list[pa.Table] | None:
        """None where that cannot be, which the time of both then says of it."""
        try:
            found = self.tasks.rows(requests)
        except TidemarkError:  # the session does not start
            raise
        except Exception as e:
            if TOO_LARGE in str(e):
                return None
            self.failed += 1
            again = "" if self.failed < FAILURES else ", from now on"
            log.warning("executors do not find rows by indexes; Spark's query reads them%s: %s", again, last_line(e))
            return None
        self.failed = 0
        return found


def _kind(requests: Sequence[Request]) -> Kind:
    asked = frozenset(f"{r.files[0].parent.name} {' '.join(r.by)}" for r in requests)
    return asked, len(str(sum(r.keys.num_rows for r in requests)))
