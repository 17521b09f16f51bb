"""Interval columns: Postgres' text to Arrow's month-day-nano intervals, each distinct value read once."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from compiler.catalog import Table
from dialects.intervals import parse_interval


def typed(rows: pa.Table, t: Table) -> pa.Table:
    """Staged rows with the columns of type interval as Arrow intervals."""
    for i, c in enumerate(t.columns):
        name = f"c{i}"
        if c.type.name == "interval" and name in rows.column_names:
            encoded = pc.dictionary_encode(rows[name].cast(pa.large_string())).combine_chunks()
            values = [pa.MonthDayNano([m, d, u * 1000]) for m, d, u in
                      (parse_interval(v) for v in encoded.dictionary.to_pylist())]
            taken = pa.array(values, type=pa.month_day_nano_interval()).take(encoded.indices)
            rows = rows.set_column(rows.schema.get_field_index(name), name, taken)
    return rows
