"""Progress of a deployment: bars on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int, int], None]


@contextmanager
def deploying(quiet: bool = False) -> Iterator[tuple[Report, Callable[[str], None]]]:
    """(progress, say) for `deploy`: rows, bytes and time left for each table."""
    if quiet or not sys.stderr.isatty():
        yield (lambda *_: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} rows"),
        TextColumn("{task.fields[size]}"),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def report(table: str, rows: int, size: int, expected: int) -> None:
            if table not in tasks:
                tasks[table] = bars.add_task(table, total=max(expected, rows), size="")
            bars.update(tasks[table], completed=rows, total=max(expected, rows), size=f"{size / 1e6:,.1f} MB")

        yield report, lambda text: bars.console.print(text)
    _ = DownloadColumn
