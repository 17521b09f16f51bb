"""Two answers compared, row by row with multiplicity: the source's, as text, and the warehouse's."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from compiler.catalog import Column, Table
from compiler.ir.types import Type
from connectors.duckdb.session import beside, scratch
from connectors.duckdb.text import from_text
from connectors.literal_rows import ValueOutOfRange, parsed
from dialects.duckdb import DUCKDB
from dialects.printer import Printer

_lock = threading.Lock()


@dataclass
class Verified:
    """A comparison: how many rows the source has, and how many are missing or too many in the warehouse.

    `mirror`: the engine whose mirror of the table `view` it is, '' for a view. `tables`: what it reads.
    `unreadable`: in the warehouse, which a repair mends. `ties`: it differs in which of equal rows come first, and
    in nothing else: what is kept is what its definition gives over the same tables.
    """

    view: str
    rows: int = 0
    missing: int = 0
    extra: int = 0
    example: str = ""
    error: str = ""
    unreadable: bool = False
    mirror: str = ""
    ties: bool = False
    tables: set[str] = field(default_factory=set)
    keys: int | None = None  # of a partial view, how many are kept: it is compared for these

    @property
    def equal(self) -> bool:
        return not self.error and (self.ties or not self.missing and not self.extra)

    @property
    def mendable(self) -> bool:
        """What a repair can mend: the warehouse differs, or cannot be read."""
        return self.unreadable or not self.ties and bool(self.missing or self.extra)

    def line(self) -> str:
        name = f"table {self.view} on {self.mirror}" if self.mirror else self.view
        if self.error:
            return f"{name}: could not be compared: {self.error}"
        if self.ties:
            return (
                f"{name}: differs by ties, in {max(self.missing, self.extra)} of {self.rows} rows: the source takes "
                f"equal rows in "
                "another order"
            )
        if self.equal:
            return f"{name}: equal, {self.rows} rows{'' if self.keys is None else f' of {self.keys} keys'}"
        return f"{name}: DIFFERS, {self.missing} rows missing, {self.extra} too many; {self.example}"

    def to_json(self) -> dict[str, Any]:
        return {**{k: v for k, v in self.__dict__.items()}, "tables": sorted(self.tables)}


@dataclass(frozen=True)
class Keys:
    """Keys of which alone rows count: `rows`, for the columns of the answer at `places`."""

    places: Sequence[int]
    rows: pa.Table


ALIKE = Type("jsonb", labels=("alike",))  # of equal values, which is shown is open


def compared(
    out: Verified,
    types: list[Type],
    chunks: list[pa.Table],
    ours: pa.Table,
    only: Keys | None = None,
) -> Verified:
    """`out` with what the comparison found, or why it could not be made; of `only` some keys."""
    try:
        difference(out, types, chunks, ours, only)
    except (duckdb.Error, pa.ArrowInvalid) as e:
        out.error = f"cannot be compared: {str(e).splitlines()[0]}"
    except ValueOutOfRange as e:
        out.error = f"cannot be compared: {e.detail}"
    return out


def difference(
    out: Verified,
    types: list[Type],
    chunks: list[pa.Table],
    ours: pa.Table,
    only: Keys | None = None,
) -> None:
    """Both ways by EXCEPT ALL; numbers that are not exact on both sides are compared to 9 significant digits."""
    with _lock:
        con = beside(_scratch())
        if ALIKE in types:
            _with_macros()
    try:
        _difference(con, out, types, chunks, ours, only)
    finally:
        con.close()


@functools.cache
def _with_macros() -> None:
    """The functions that the dialect has of its own are there, too."""
    con = beside(_scratch())
    con.execute("CREATE SCHEMA pg")
    for s in Printer(DUCKDB).setup():
        con.execute(s)
    con.close()


@functools.cache
def _scratch() -> duckdb.DuckDBPyConnection:
    """One of the process: to open one takes longer than to compare some rows. None of a thread's own: what a thread
    holds is taken down in a child that another one forks, as Spark's start does, and DuckDB does not survive that."""
    return scratch()


def _difference(
    con: duckdb.DuckDBPyConnection,
    out: Verified,
    types: list[Type],
    chunks: list[pa.Table],
    ours: pa.Table,
    only: Keys | None,
) -> None:
    names = [f"c{i}" for i in range(len(types))]
    empty = pa.table({n: pa.array([], type=pa.large_string()) for n in names})
    shape = Table("", "", tuple(Column(n, t) for n, t in zip(names, types, strict=True)))
    con.register("source_text", parsed(pa.concat_tables(chunks) if chunks else empty, shape))
    con.register("ours_raw", ours.rename_columns(names))
    theirs = ", ".join(f"{_comparable(from_text(n, _loose(t)), t)} AS {n}" for n, t in zip(names, types, strict=True))
    mine = ", ".join(f"{_comparable(n, t)} AS {n}" for n, t in zip(names, types, strict=True))
    if not names:
        theirs = mine = "1 AS one"
    there = ""
    if only is not None:
        con.register("keys_raw", only.rows.rename_columns([f"k{i}" for i in range(only.rows.num_columns)]))
        same = " AND ".join(f"c{p} = {_comparable(f'k{i}', types[p])}" for i, p in enumerate(only.places))
        there = f" WHERE EXISTS (SELECT 1 FROM keys_raw WHERE {same})"
    both = (
        f"WITH theirs AS MATERIALIZED (SELECT * FROM (SELECT {theirs} FROM source_text){there}), "
        f"mine AS MATERIALIZED (SELECT {mine} FROM ours_raw) "
    )
    missing_rows, extra_rows = "FROM theirs EXCEPT ALL FROM mine", "FROM mine EXCEPT ALL FROM theirs"
    counts = f"(SELECT count(*) FROM theirs), (SELECT count(*) FROM mine), (SELECT count(*) FROM ({missing_rows}))"
    out.rows, kept, lacking = con.execute(f"{both} SELECT {counts}").fetchall()[0]
    if kept == out.rows and not lacking:
        return
    shown = ", ".join(f"{_shown(n, t)} AS {n}" for n, t in zip(names, types, strict=True)) or "*"
    missing = con.execute(f"{both} SELECT {shown} FROM ({missing_rows})").to_arrow_table().to_pylist()
    extra = con.execute(f"{both} SELECT {shown} FROM ({extra_rows})").to_arrow_table().to_pylist()
    missing, extra = _close(missing, extra)
    example = f"missing {missing[0]}" if missing else f"extra {extra[0]}" if extra else ""
    out.missing, out.extra, out.example = len(missing), len(extra), example[:300]


def _shown(e: str, t: Type) -> str:
    """A value that Python can hold: its times are of the years 1 to 9999, and its days end before 24:00."""
    kind = t.element if t.name == "array" and t.element is not None else t
    return f"CAST({e} AS VARCHAR)" if kind.name in ("date", "time", "timestamp", "timestamptz") else e


def _loose(t: Type) -> Type:
    return Type("float8") if t.name == "numeric" and (t.scale or 0) > 12 else t


def _comparable(e: str, t: Type) -> str:
    if t.name in ("bpchar", "blanks"):
        return f"rtrim({e}, ' ')"
    if t.name == "array" and t.element is not None and t.element.name in ("bpchar", "blanks"):
        return f"list_transform({e}, x -> rtrim(x, ' '))"
    if t.name in ("float4", "float8") or (t.name == "numeric" and (t.scale or 0) > 12):
        return f"CAST({e} AS DOUBLE)"
    if t.name == "interval":  # of equal ones in several forms, which is shown is open
        days = f"datepart('year', {e}) * 360 + datepart('month', {e}) * 30 + datepart('day', {e})"
        clock = f"datepart('hour', {e}) * 3600000000 + datepart('minute', {e}) * 60000000 + datepart('us', {e})"
        return f"CAST({days} AS HUGEINT) * 86400000000 + {clock}"
    if t.name == "numeric":
        return f"CAST({e} AS DECIMAL(38,{t.scale}))"
    if t == ALIKE:
        return f"pg.json_norm({e})"
    return e


def _close(
    missing: list[dict[str, Any]], extra: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Pair off rows that differ only in the last digits of floating point numbers."""
    if not missing or not extra:
        return missing, extra

    def near(x: Any, y: Any) -> bool:
        if isinstance(x, float) and isinstance(y, float):
            return x == y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(x) and math.isnan(y))
        if isinstance(x, list) and isinstance(y, list):
            return len(x) == len(y) and all(map(near, x, y))
        return bool(x == y)

    def exact(r: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(repr(v) for v in r.values() if not isinstance(v, float | list))

    pool: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for r in extra:
        pool.setdefault(exact(r), []).append(r)
    left = []
    for r in missing:
        candidates = pool.get(exact(r), [])
        hit = next((c for c in candidates if near([*r.values()], [*c.values()])), None)
        if hit is None:
            left.append(r)
        else:
            candidates.remove(hit)
    return left, [r for rs in pool.values() for r in rs]
