"""export: one file or folder per view."""

from __future__ import annotations

from pathlib import Path

from pipelines import deployment as store
from pipelines.config import Config
from pipelines.reading import reader


def export(config: Config, views: list[str], target: Path, fmt: str) -> None:
    """Write views (all of them when none is named) to `target`."""
    d = store.require(config.warehouse_path)
    target.mkdir(parents=True, exist_ok=True)
    with reader(config, d) as r:
        for name in views or [v.name for v in d.views]:
            r.export(name, target / f"{name}.{fmt}", fmt)
