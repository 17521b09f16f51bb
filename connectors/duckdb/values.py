"""Values on their way in and out: what a cast cannot take is named, what a file cannot hold is changed."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from compiler.ir.types import MAX_PRECISION, Type, is_numeric, is_varying
from compiler.spelling import ident
from connectors.duckdb.session import scratch
from connectors.duckdb.text import from_text
from connectors.engine import EngineFailure
from connectors.literal_rows import out_of_range


def cast_errors(t: Table, rows: pa.Table, run: Callable[[], object]) -> None:
    """Run a statement that casts staged text; what does not fit is named by table, column and key."""
    if any(_without_scale(c.type) for c in t.columns):
        _check(t, rows, scale_only=True)
    try:
        run()
    except duckdb.Error as e:
        _check(t, rows, scale_only=False)
        raise EngineFailure(
            f'landing table "{t.schema}.{t.name}" failed', detail=str(e).split("\n")[0], code="engine"
        ) from e


def _check(t: Table, rows: pa.Table, scale_only: bool) -> None:
    """Look for a value that no cast can take, or whose digits a cast would drop; raises ValueOutOfRange."""
    con = scratch()
    con.register("arrived", rows.append_column("_at", pa.array(range(rows.num_rows))))
    con.execute("CREATE TABLE staged AS SELECT * FROM arrived")
    for i, c in enumerate(t.columns):
        tests = []
        if _without_scale(c.type):
            tests.append(f"length(rtrim(split_part(c{i}, '.', 2), '0')) > {c.type.scale}")
        if not scale_only and c.type.name not in ("interval", "array", "bytea", "bool"):
            tests.append(f"c{i} IS NOT NULL AND {from_text(f'c{i}', c.type, strict=False)} IS NULL")
        for test in tests:
            try:
                bad = con.execute(f"SELECT _at, c{i} FROM staged WHERE {test} ORDER BY _at LIMIT 1").fetchone()
            except duckdb.Error:
                continue
            if bad:
                raise out_of_range(t, c, rows, bad[0], bad[1])


def _without_scale(t: Type) -> bool:
    """Whether the source's values may have more digits after the point than are kept."""
    return is_numeric(t) and (t.precision == MAX_PRECISION or is_varying(t))


def exported(name: str, t: Type) -> str:
    """A column as files can hold it: Parquet's interval has no sign, so intervals are written as seconds. A real is
    written as the double of the digits that Postgres shows: 0.1, not 0.10000000149."""
    column = ident(name).sql("duckdb")
    if t.name == "float4":
        return f"CAST(pg.real_text({column}) AS DOUBLE) AS {column}"
    if t.name == "array" and t.element is not None and t.element.name == "float4":
        return f"list_transform({column}, lambda v: CAST(pg.real_text(v) AS DOUBLE)) AS {column}"
    if t.name == "array" and t.element is not None and t.element.name == "interval":
        return f"list_transform({column}, lambda v: {_seconds('v')}) AS {column}"
    return f"{_seconds(column)} AS {column}" if t.name == "interval" else column


def _seconds(interval: str) -> str:
    months = f"(datepart('year', {interval}) * 12 + datepart('month', {interval}))"
    days = f"(({months} // 12) * 365 + ({months} % 12) * 30 + datepart('day', {interval}))"
    return f"CAST({days} * 86400 AS DOUBLE) + pg.micros_of({interval}) / 1000000.0"
