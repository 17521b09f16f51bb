"""The engines that there are, and what is asked of one before it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

AUTO = "auto"  # in the place of an engine's name: by the sizes of tables
LOCAL, DIST = "local", "dist"  # in a DuckDB file of this process, or in Delta tables by the executors


@dataclass(frozen=True)
class Kind:
    """An engine by its name: `data` is its file or folder in a warehouse, and `executors` says whether it has some
    for what is too large for one machine."""

    name: str
    title: str
    data: str
    executors: bool

    def in_process(self, location: str) -> bool:
        """Whether a DuckDB of this process keeps what is deployed at the `location`, so that its own connection
        reads it."""
        return not self.executors or location == LOCAL

    def lost(self, warehouse: Path) -> bool:
        """Whether data that a deployment had is gone."""
        return not (warehouse / self.data).exists()


ONE_MACHINE = Kind("duckdb", "DuckDB", "tidemark.duckdb", executors=False)
EXECUTORS = Kind("spark", "Spark", "delta", executors=True)
KINDS = {k.name: k for k in (ONE_MACHINE, EXECUTORS)}  # in the order in which they are listed
