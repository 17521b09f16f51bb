"""Values on their way in and out: what a cast cannot take is named, what a file cannot hold is changed."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import pyarrow as pa

from compiler.catalog import Table
from compiler.ir.types import MAX_PRECISION, Type, innermost, is_numeric, is_varying
from compiler.spelling import ident
from connectors.duckdb.session import scratch
from connectors.duckdb.text import from_text
from connectors.engine import EngineFailure
from connectors.literal_rows import out_of_range, parsed

READ = ("interval", "array", "bytea", "bool")  # types whose text is read before it is cast, or is always cast


def cast_errors(t: Table, rows: pa.Table, run: Callable[[], object]) -> None:
    """Run a statement that casts staged text; what does not fit is named by table, column and key."""
    if any(_without_scale(innermost(c.type)) for c in t.columns):
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
    shown = rows.append_column("_at", pa.array(range(rows.num_rows)))
    con.register("arrived", shown if scale_only else parsed(shown, t))
    con.execute("CREATE TABLE staged AS SELECT * FROM arrived")
    for i, c in enumerate(t.columns):
        for test in _tests(f"c{i}", c.type, scale_only):
            try:
                bad = con.execute(f"SELECT _at FROM staged WHERE {test} ORDER BY _at LIMIT 1").fetchone()
            except duckdb.Error:
                continue
            if bad:
                raise out_of_range(t, c, rows, bad[0], rows[f"c{i}"][bad[0]].as_py())


def _tests(column: str, t: Type, scale_only: bool) -> list[str]:
    """SQL that is true for values of a staged column that are out of range; of arrays the text, where the scale alone
    is looked at, else lists of text."""
    of, tests = innermost(t), list[str]()
    if _without_scale(of) and of is t:
        tests.append(f"length(rtrim(split_part({column}, '.', 2), '0')) > {of.scale}")
    elif _without_scale(of) and scale_only:
        tests.append(f"regexp_matches({column}, '\\.[0-9]{{{of.scale}}}[0-9]*[1-9]')")
    if not scale_only and of.name not in READ:
        value = column if of is t else "x"
        fails = f"{value} IS NOT NULL AND {from_text(value, of, strict=False)} IS NULL"
        tests.append(fails if of is t else f"len(list_filter({column}, lambda x: {fails})) > 0")
    return tests


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
