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
    listed = _listed(_found(folder, table))
    if not listed:
        return []
    items = ", ".join(f'"{c}"' for c in columns)
    return duckdb.execute(
        f"SELECT {items}, _weight FROM read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
    ).fetchall()


def latest(folder: Path, table: str, columns: list[str], key: list[str]) -> list[tuple[Any, ...]]:
    """The same of a mirror whose log has, of each key, the row that it has since an LSN, or that it has none."""
    if not key:
        return rows(folder, table, columns)
    items, by = (", ".join(f'"{c}"' for c in names) for names in (columns, key))
    return duckdb.execute(
        f"SELECT {items}, 1 FROM (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY _lsn DESC, _log DESC) AS nth "
        f"FROM read_parquet([{_listed(_found(folder, table))}])) WHERE nth = 1 AND _weight > 0"
    ).fetchall()


def table(folder: Path) -> list[tuple[Any, ...]]:
    """All rows of a table."""
    return duckdb.execute(f"SELECT * FROM read_parquet([{_listed(folder)}])").fetchall()


def _found(folder: Path, table: str) -> Path:
    found = [
        p for p in folder.iterdir() if p.name == table or p.name.endswith(f"_{table}") or p.name.endswith(f".{table}")
    ]
    assert len(found) == 1, f"{table}: {found}"
    return found[0]


def _listed(table: Path) -> str:
    return ", ".join(f"'{p}'" for p in files(table))
