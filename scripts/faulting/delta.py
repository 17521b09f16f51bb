"""The rows of a Delta table, by its log: which files it has now, read one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb


def files(table: Path) -> list[Path]:
    """What the table's latest version consists of: the last checkpoint, and the commits since."""
    log = table / "_delta_log"
    there: dict[str, None] = {}
    first = 0
    if (hint := log / "_last_checkpoint").exists():
        first = int(json.loads(hint.read_text())["version"]) + 1
        paths = sorted(log.glob(f"{first - 1:020}.checkpoint*.parquet"))
        listed = ", ".join(f"'{p}'" for p in paths)
        for (path,) in duckdb.execute(
            f"SELECT add.path FROM read_parquet([{listed}]) WHERE add IS NOT NULL"
        ).fetchall():
            there[path] = None
    for commit in sorted(log.glob("*.json")):
        if not commit.stem.isdigit() or int(commit.stem) < first:
            continue
        for line in commit.read_text().splitlines():
            action: dict[str, Any] = json.loads(line)
            if "add" in action:
                assert not action["add"].get("deletionVector"), "deletion vectors are not read"
                there[action["add"]["path"]] = None
            elif "remove" in action:
                there.pop(action["remove"]["path"], None)
    return [table / p for p in there]


def rows(folder: Path, table: str, columns: list[str]) -> list[tuple[Any, ...]]:
    """The columns and the weight of every row of a mirror, base and log."""
    found = [
        p for p in folder.iterdir() if p.name == table or p.name.endswith(f"_{table}") or p.name.endswith(f".{table}")
    ]
    assert len(found) == 1, f"{table}: {found}"
    listed = ", ".join(f"'{p}'" for p in files(found[0]))
    if not listed:
        return []
    items = ", ".join(f'"{c}"' for c in columns)
    return duckdb.execute(
        f"SELECT {items}, _weight FROM read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
    ).fetchall()
