"""A table that is drawn over itself, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live

from pipelines.observe.table import LiveTable


@contextmanager
def live_table() -> Iterator[Callable[[Any], None]]:
    """What draws a snapshot of a pipeline's state."""
    with Live(console=Console(), refresh_per_second=2) as live:
        yield lambda shot: live.update(LiveTable(shot))
