"""Keys of partial views that arrive and leave: batches of their own, between those of the source, at its frontier."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa

from compiler.maintain.asked import Asked
from compiler.maintain.differentiate import Same
from compiler.maintain.plan import ViewPlan
from compiler.maintain.program import Prepared
from connectors.engine import Engine, EngineFailure
from connectors.failpoints import reach
from connectors.key_rows import Hold
from connectors.staging import MET, PRESENT, SEQ, Staged
from pipelines.applying.from_source import Former, Read, read
from pipelines.warehouse import Warehouse

AT_ONCE = 100_000  # keys of a batch
FORMER: dict[str, Former] = {}  # of this process, by deployment


def fill(warehouse: Warehouse, view: str, keys: pa.Table, applied: Collection[int] = ()) -> int:
    """Keep what the view has for keys, as text in c0…, of which some may be there already; gives how many were not.

    On the thread that applies batches. `applied`: the ids of transactions that were applied of late, by this process.
    Raises EngineFailure where it could not be, TidemarkError where the source could not be read; nothing is kept then.
    """
    v, plan = warehouse.view(view)
    assert plan.asked is not None
    engine = warehouse.engine(v.engine)
    holds = _holds(warehouse, v.engine, view)
    missing = absent(engine.look_up(plan.asked, keys))
    reach("ask.missing")
    for part in _parts(missing):
        if plan.asked.seen and holds:
            _from_source(warehouse, engine, plan, holds, part, applied)
        else:
            none = Read([], 0, 0, 0, "") if plan.asked.seen else None
            _arrive(warehouse, engine, plan, [], _arriving(plan.asked, part, none))
    reach("ask.filled")
    return int(missing.num_rows)


def _holds(warehouse: Warehouse, engine: str, view: str) -> list[Hold]:
    """The tables of which the rows of this view's keys alone are kept."""
    return [h for h in warehouse.holds(engine).values() if h.asked.view == view]


def former(warehouse: Warehouse) -> Former:
    """What is known of earlier processes."""
    return FORMER.setdefault(warehouse.deployment.mark, Former())


def _from_source(
    warehouse: Warehouse, engine: Engine, plan: ViewPlan, holds: list[Hold], keys: pa.Table, applied: Collection[int]
) -> None:
    assert plan.asked is not None and engine.key_rows is not None
    last = engine.last_commit()
    every = {*applied, *([last.xid] if last is not None and last.xid else [])}
    got = read(warehouse.config.source.dsn, holds, keys, every, former(warehouse), warehouse.refused(engine.name))
    reach("ask.read")
    rows = [engine.key_rows.arriving(h, keys, r, got.lsn) for h, r in zip(holds, got.rows, strict=True)]
    some = [s for s in rows if s.rows.num_rows]
    _arrive(warehouse, engine, plan, some, _arriving(plan.asked, keys, got))


def _arrive(warehouse: Warehouse, engine: Engine, plan: ViewPlan, rows: list[Staged], keys: Staged) -> None:
    try:
        _apply(warehouse, engine, plan, rows, keys, leaving=False)
    except EngineFailure as e:
        e.state = ""  # what a reader asked for could not be computed: what is kept is as it was
        raise


def absent(found: pa.Table) -> pa.Table:
    """Of keys that were looked up, those that are not there."""
    return bare(found.filter(found["absent"]))


def bare(found: pa.Table) -> pa.Table:
    """Keys that were looked up, and nothing else of them."""
    return found.drop_columns(["absent", "lsn"])


def dismiss(warehouse: Warehouse, view: str, keys: pa.Table, asked: bool = True) -> None:
    """Forget what is kept for keys, as text in c0…, that are there. On the thread that applies batches. Where nobody
    `asked`, and it cannot be done, the error names the state, of which the view can be set aside."""
    v, plan = warehouse.view(view)
    assert plan.asked is not None
    engine = warehouse.engine(v.engine)
    for part in _parts(keys):
        rows: list[Staged] = []
        if engine.key_rows is not None:
            rows = [engine.key_rows.leaving(h, part) for h in _holds(warehouse, v.engine, view)]
        some = [s for s in rows if s.rows.num_rows]
        staged = Staged(plan.asked.table, _deletes(plan.asked, part), True, False, False)
        try:
            _apply(warehouse, engine, plan, some, staged, leaving=True)
        except EngineFailure as e:
            if asked:
                e.state = ""  # what is kept is as it was
            raise
    reach("ask.dismissed")


def _apply(
    warehouse: Warehouse, engine: Engine, plan: ViewPlan, rows: list[Staged], keys: Staged, leaving: bool
) -> None:
    """Keys arrive after their rows, or leave before them, in one transaction: what is kept is of keys alone that are
    there."""
    assert plan.asked is not None
    at, asked = engine.frontier(), plan.asked.name
    of_rows = warehouse.programs(engine.name)
    aside = warehouse.view(plan.view)[0].error  # of which no states are kept
    of_keys = of_rows if aside else warehouse.upqueries(engine.name, plan.view, leaving)

    def programs(changed: frozenset[str], same: Same = frozenset()) -> Prepared:
        return of_keys(changed, same) if asked in changed else replace(of_rows(changed, same), touched=(), beside=None)

    first, then = ([keys], [rows] if rows else []) if leaving or not rows else (rows, [[keys]])
    engine.apply(first, at, programs, start=at, more=then)


def _parts(keys: pa.Table) -> list[pa.Table]:
    return [keys.slice(i, AT_ONCE) for i in range(0, keys.num_rows, AT_ONCE)]


def _arriving(asked: Asked, keys: pa.Table, got: Read | None) -> Staged:
    n, values = keys.num_rows, keys
    if got is not None:
        for i, x in enumerate((got.lsn, got.low, got.high, got.running), len(asked.columns)):
            values = values.append_column(f"c{i}", pa.array([str(x)] * n))
    return Staged(asked.table, _staged(keys, True, values), True, False, True)


def _deletes(asked: Asked, keys: pa.Table) -> pa.Table:
    names = [f"c{i}" for i in range(len(asked.table.columns))]
    none = pa.table({n: pa.nulls(keys.num_rows, pa.string_view()) for n in names})
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
