"""Keys of partial views that arrive and leave: batches of their own, between those of the source, at its frontier."""

from __future__ import annotations

import pyarrow as pa

from compiler.maintain.plan import ViewPlan
from connectors.engine import Engine, EngineFailure
from connectors.failpoints import reach
from connectors.staging import MET, PRESENT, SEQ, Staged
from pipelines.warehouse import Warehouse

AT_ONCE = 100_000  # keys of a batch


def fill(warehouse: Warehouse, view: str, keys: pa.Table) -> int:
    """Keep what the view has for keys, as text in c0…, of which some may be there already; gives how many were not.

    On the thread that applies batches. Raises EngineFailure where it could not be; nothing is kept then.
    """
    v, plan = warehouse.view(view)
    assert plan.asked is not None
    engine = warehouse.engine(v.engine)
    missing = absent(engine.look_up(plan.asked, keys))
    reach("ask.missing")
    for part in _parts(missing):
        _apply(warehouse, engine, plan, Staged(plan.asked.table, _inserts(part), True, False, True), leaving=False)
    reach("ask.filled")
    return int(missing.num_rows)


def absent(found: pa.Table) -> pa.Table:
    """Of keys that were looked up, those that are not there."""
    return found.filter(found["absent"]).drop_columns("absent")


def dismiss(warehouse: Warehouse, view: str, keys: pa.Table) -> None:
    """Forget what is kept for keys, as text in c0…, that are there. On the thread that applies batches."""
    v, plan = warehouse.view(view)
    assert plan.asked is not None
    for part in _parts(keys):
        staged = Staged(plan.asked.table, _deletes(part), True, False, False)
        _apply(warehouse, warehouse.engine(v.engine), plan, staged, leaving=True)
    reach("ask.dismissed")


def _apply(warehouse: Warehouse, engine: Engine, plan: ViewPlan, staged: Staged, leaving: bool) -> None:
    at = engine.frontier()
    try:
        engine.apply([staged], at, warehouse.upqueries(engine.name, plan.view, leaving), start=at)
    except EngineFailure as e:
        e.state = ""  # what a reader asked for could not be computed: what is kept is as it was
        raise


def _parts(keys: pa.Table) -> list[pa.Table]:
    return [keys.slice(i, AT_ONCE) for i in range(0, keys.num_rows, AT_ONCE)]


def _inserts(keys: pa.Table) -> pa.Table:
    return _staged(keys, True, keys)


def _deletes(keys: pa.Table) -> pa.Table:
    none = pa.table({n: pa.nulls(keys.num_rows, pa.string_view()) for n in keys.column_names})
    return _staged(keys, False, none)


def _staged(keys: pa.Table, present: bool, values: pa.Table) -> pa.Table:
    n = keys.num_rows
    columns: dict[str, pa.Array] = {
        SEQ: pa.array(range(n), pa.int64()),
        "_lsn": pa.nulls(n, pa.int64()),
        PRESENT: pa.array([present] * n),
        MET: pa.array([not present] * n),
    }
    columns |= {f"k{c[1:]}": _text(keys, c) for c in keys.column_names}
    columns |= {c: _text(values, c) for c in values.column_names}
    return pa.table(columns)


def _text(t: pa.Table, column: str) -> pa.ChunkedArray:
    return t[column].cast(pa.string_view()) if t[column].type != pa.string_view() else t[column]
