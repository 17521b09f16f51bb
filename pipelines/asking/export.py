"""export: one file or folder per view."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compiler.errors import TidemarkError
from pipelines import deployment as deployments
from pipelines.asking.reading import reader
from pipelines.config import Config


def export(config: Config, views: list[str], target: Path, fmt: str, every_key: bool = False) -> None:
    """Write views (all of them when none is named) to `target`; partial ones where `every_key` is asked for."""
    failed: dict[str, TidemarkError] = {}

    def one(name: str) -> None:
        try:
            r.export(name, target / f"{name}.{fmt}", fmt, every_key)
        except TidemarkError as e:
            failed[name] = e

    d = deployments.require(config.warehouse_path)
    target.mkdir(parents=True, exist_ok=True)
    with reader(config, d) as r:
        by_threads: dict[int, list[str]] = {}
        for name in views or [v.name for v in d.views]:
            try:
                by_threads.setdefault(r.threads(name), []).append(name)
            except TidemarkError as e:
                failed[name] = e
        for threads, names in by_threads.items():
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(one, names))
    if len(failed) == 1 and len(views) == 1:
        raise next(iter(failed.values()))
    if failed:
        raise TidemarkError(
            f"{len(failed)} of the views could not be exported; the others were",
            code="export_failed",
            detail="\n".join(f'"{n}": {e.message} {e.detail}'.rstrip() for n, e in failed.items()),
            hint=next(iter(failed.values())).hint,
        )
