"""Changes of tables of which the rows of some keys alone are kept (`connectors.key_rows`)."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.engine import Engine
from connectors.key_rows import Hold, KeyRows
from connectors.staging import Staged
from pipelines.applying.upquery import dismiss, former
from pipelines.refused import qualified
from pipelines.warehouse import Warehouse


def of(engine: Engine) -> KeyRows:
    """What the engine does for such tables, where it has some."""
    assert engine.key_rows is not None
    return engine.key_rows


def followed(
    warehouse: Warehouse, engine: str, staged: list[Staged], holds: Mapping[str, Hold], xids: Mapping[int, int]
) -> list[Staged]:
    """Of a batch's changes, those that mirrors are to take, and all of the tables that are mirrored whole. Keys leave
    of which a row cannot be told: who asks for them next reads them anew."""
    if not holds:
        return staged
    target = warehouse.engine(engine)
    while True:
        out, late = [], False
        for s in staged:
            hold = holds.get(qualified(s.table))
            if hold is None:
                out.append(s)
                continue
            kept, gone = of(target).follow(s, hold, xids)
            if gone.num_rows:
                dismiss(warehouse, hold.asked.view, gone, asked=False)
                late = True
            elif kept is not None:
                out.append(kept)
        if not late:
            return out


def begin(warehouse: Warehouse) -> None:
    """Before the stream is opened. Keys leave that were read later than it goes on from: the source may have lost what
    they were read from, and use its ids again. Rows leave of keys that are not there: those of a view that was set
    aside went without them."""
    former(warehouse).high = 0  # what was applied until now is not told any more
    for e in warehouse.used_engines():
        target = warehouse.engine(e)
        for asked in {h.asked for h in warehouse.holds(e).values()}:
            late = of(target).ahead(asked, target.frontier())
            if late.num_rows:
                dismiss(warehouse, asked.view, late, asked=False)
    sweep(warehouse)


def sweep(warehouse: Warehouse) -> None:
    """Take away the rows of keys that are not there."""
    for e in warehouse.used_engines():
        for hold in warehouse.holds(e).values():
            target = warehouse.engine(e)
            gone = of(target).strangers(hold)
            if gone.rows.num_rows:
                at = target.frontier()
                target.apply([gone], at, warehouse.programs(e), start=at)
