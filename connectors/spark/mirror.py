"""Mirrors in Spark: one Delta table a source table, base and log apart by the column `_log`."""

from __future__ import annotations

import re
from pathlib import Path

from compiler.catalog import Table
from compiler.spelling import ident
from compiler.spelling.spark import type_name

BROADCAST = (
    32 << 20
)  # logs up to this many bytes of files are sent to every worker; Spark guesses the size of what is made of them


def q(name: str) -> str:
    return ident(name).sql("spark")


def columns(t: Table, prefix: str = "") -> str:
    return ", ".join(f"{prefix}{q(c.name)}" for c in t.columns)


def encoded(name: str) -> str:
    """A column's name in a Delta table, which has none of some characters."""
    return re.sub(r"[ ,;{}()\n\t=%]", lambda m: f"%{ord(m[0]):02x}", name)


def stored(name: str) -> str:
    return q(encoded(name))


def at_version(t: Table, path: Path, version: int | None) -> str:
    """The rows that a mirror has at a version, by default the last; of a table without a key with their weights."""
    pinned = "" if version is None else f" VERSION AS OF {version}"
    table = (
        f"(SELECT {', '.join(f'{stored(c.name)} AS {q(c.name)}' for c in t.columns)}, _weight, _log FROM "
        f"{path_name(path)}{pinned})"
    )
    return rows(t, table, f"SELECT {columns(t)}, _weight FROM {table} WHERE _log", small=False)


def source(t: Table, path: Path) -> str:
    """The Delta table with the columns' own names."""
    if all(stored(c.name) == q(c.name) for c in t.columns):
        return path_name(path)
    items = ", ".join(f"{stored(c.name)} AS {q(c.name)}" for c in t.columns)
    return f"(SELECT {items}, _weight, _lsn, _log FROM {path_name(path)})"


def path_name(path: Path | str) -> str:
    return f"delta.`{path}`"


def create(t: Table, path: Path) -> str:
    """Compaction replaces the table in one commit, so that base and log always belong together."""
    body = ", ".join(f"{stored(c.name)} {type_name(c.type)}" for c in t.columns)
    return (
        f"CREATE TABLE {path_name(path)} ({body}, _weight BIGINT, _lsn BIGINT, _log BOOLEAN) USING delta "
        "PARTITIONED BY (_log)"
    )


def size(file: Path) -> int:
    """Bytes of a file; none where another process has deleted it since it was seen."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def log_size(path: Path) -> int:
    """Bytes of the log's files."""
    return sum(map(size, (path / "_log=true").glob("*.parquet")))


def views(t: Table, path: Path, batch: str | None) -> dict[str, str]:
    """Definitions of before, after (signed) and their positive forms, for a batch stored as the view `batch`."""
    table, cols = source(t, path), columns(t)
    before = f"SELECT {cols}, _weight FROM {table}"
    added = f" UNION ALL SELECT {cols}, CAST(_weight AS BIGINT) AS _weight FROM {q(batch)}" if batch else ""
    log = f"SELECT {cols}, _weight FROM {table} WHERE _log"
    small = log_size(path) < BROADCAST
    return {
        "before": before,
        "after": before + added,
        "before_rows": rows(t, table, log, small),
        "after_rows": rows(t, table, log + added, small),
    }


def rows(t: Table, table: str, log: str, small: bool) -> str:
    """The rows there are: those of the base that the log does not take away, and what it adds."""
    cols, hint = columns(t), "/*+ BROADCAST(n) */ " if small else ""
    net = f"(SELECT {cols}, SUM(_weight) AS _weight FROM ({log}) GROUP BY {cols} HAVING SUM(_weight) <> 0)"
    keys = t.key or tuple(c.name for c in t.columns)
    on = " AND ".join(f"b.{q(k)} <=> n.{q(k)}" for k in keys)
    if t.key:
        return (
            f"SELECT {hint}{columns(t, 'b.')} FROM {table} b LEFT ANTI JOIN (SELECT * FROM {net} WHERE _weight < 0) n "
            f"ON {on} "
            f"WHERE NOT b._log UNION ALL SELECT {cols} FROM {net} WHERE _weight > 0"
        )
    return (
        f"SELECT {hint}{columns(t, 'b.')}, b._weight + COALESCE(n._weight, 0) AS _weight FROM {table} b LEFT JOIN "
        f"(SELECT * FROM {net} WHERE _weight < 0) n ON {on} WHERE NOT b._log AND b._weight + COALESCE(n._weight, 0) > "
        f"0 "
        f"UNION ALL SELECT {cols}, _weight FROM {net} WHERE _weight > 0"
    )


def compacted(t: Table, path: Path, lsn: int) -> str:
    """The mirror folded into base rows alone."""
    cols = ", ".join(stored(c.name) for c in t.columns)
    return (
        f"SELECT {cols}, SUM(_weight) AS _weight, CAST({lsn} AS BIGINT) AS _lsn, FALSE AS _log FROM {path_name(path)} "
        f"GROUP BY {cols} HAVING SUM(_weight) <> 0"
    )
