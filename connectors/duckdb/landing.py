"""Landing staged changes: the batch's rows as a temp table `batch_<table>`, appended to the delta table."""

from __future__ import annotations

from compiler.catalog import Column, Table
from connectors.duckdb.mirror import columns, q
from connectors.duckdb.text import from_text
from connectors.staging import Staged


def land(s: Staged, source: str) -> list[str]:
    """SQL that lands staged rows, registered as `source`."""
    t, name = s.table, q(s.table.mirror)
    batch = q(f"batch_{t.mirror}")
    copy: list[str] = []
    if s.keyed and (s.truncated or not s.inserts_only):  # read twice, and Arrow cannot filter string views
        copy, source = [f"CREATE OR REPLACE TEMP TABLE events AS SELECT * FROM {source}"], "events"
    body = _keyed(s, source) if s.keyed else _full(s, source)
    return [*copy, f"CREATE OR REPLACE TEMP TABLE {batch} AS {body}", f"INSERT INTO delta.{name} SELECT * FROM {batch}"]


def values(t: Table, prefix: str = "") -> str:
    return ", ".join(f"{from_text(f'{prefix}c{i}', c.type)} AS {q(c.name)}" for i, c in enumerate(t.columns))


def _gone(t: Table) -> str:
    """Every row of the mirror, taken away by TRUNCATE."""
    weight = "-1" if t.key else "-_weight"
    return (f"SELECT {columns(t)}, {weight} AS _weight, (SELECT getvariable('tidemark_batch')) AS _lsn, 0 AS _seq "
            f"FROM before_rows.{q(t.mirror)}")


def _full(s: Staged, source: str) -> str:
    rows = f"SELECT {values(s.table)}, _weight, _lsn, _seq FROM {source}"
    return f"{_gone(s.table)} UNION ALL {rows}" if s.truncated else rows


def _keyed(s: Staged, source: str) -> str:
    t = s.table
    key = [next(c for c in t.columns if c.name == k) for k in t.identity_key]
    if s.inserts_only and not s.truncated:
        return f"SELECT {values(t)}, 1 AS _weight, _lsn, _seq FROM {source}"
    keys = ", ".join(f"{from_text(f'k{i}', c.type)} AS key_{i}" for i, c in enumerate(key))
    kept = "".join(f", u{i}" for i in s.unchanged)
    origin = "".join(f", {from_text(f'f{i}', c.type)} AS from_{i}" for i, c in enumerate(key)) if s.unchanged else ""
    events = f"WITH latest AS MATERIALIZED (SELECT {keys}, {values(t)}, _present, _lsn, _seq{kept}{origin} FROM {source}{last(s, source)})"
    touched = "SELECT * FROM latest" if not s.unchanged else (
        "SELECT * FROM latest UNION ALL BY NAME SELECT " + ", ".join(f"from_{i} AS key_{i}" for i in range(len(key)))
        + " FROM latest WHERE from_0 IS NOT NULL")
    old = f"SELECT {columns(t)}, -1 AS _weight, _lsn, _seq FROM old WHERE _lsn IS NOT NULL" if not s.truncated else _gone(t)
    if s.unchanged:
        new_cols = ", ".join(f"CASE WHEN l.u{i} THEN o.{q(c.name)} ELSE l.{q(c.name)} END AS {q(c.name)}"
                             if i in s.unchanged else f"l.{q(c.name)}" for i, c in enumerate(t.columns))
        back = " AND ".join(f"o.{q(c.name)} = l.from_{i}" for i, c in enumerate(key))
        images = f"(SELECT DISTINCT {columns(t)} FROM old)"
        new = f"SELECT {new_cols}, 1, l._lsn, l._seq FROM latest l LEFT JOIN {images} o ON {back} WHERE l._present"
    else:
        new = f"SELECT {columns(t)}, 1, _lsn, _seq FROM latest WHERE _present"
    return f"{events}, touched AS ({touched}), old AS ({_images(t, key)}) {old} UNION ALL {new}"


def last(s: Staged, source: str) -> str:
    """Of several events on one key, the last: a condition on positions, found from the keys alone."""
    names = ", ".join(f"k{i}" for i in range(len(s.table.identity_key)))
    return f" WHERE _seq + 0 IN (SELECT max(_seq) FROM {source} GROUP BY {names})"


def _images(t: Table, key: list[Column]) -> str:
    """Rows of the mirror before the batch under the touched keys: base and log are cut down to the keys first."""
    name = q(t.mirror)
    on = " AND ".join(f"m.{q(c.name)} = k.key_{i}" for i, c in enumerate(key))
    cols, mine = columns(t), columns(t, "m.")
    weight = "1" if t.key else "m._weight"
    return (f"SELECT {cols}, _lsn, _seq FROM (SELECT {mine}, {weight} AS _weight, k._lsn, k._seq FROM base.{name} m JOIN touched k ON {on} "
            f"UNION ALL SELECT {mine}, m._weight, k._lsn, k._seq FROM delta.{name} m JOIN touched k ON {on}) "
            f"GROUP BY {cols}, _lsn, _seq HAVING sum(_weight) > 0")
