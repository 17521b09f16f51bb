"""verify --repair: mirrors that differ are copied again from the source, and the states that read them filled again."""

from __future__ import annotations

from connectors.postgres.snapshot import SharedSnapshot
from pipelines import deployment as deployments
from pipelines.applying.capture import Capture
from pipelines.config import Config
from pipelines.deploying.by_key import empty
from pipelines.deploying.filling import fill
from pipelines.deploying.initial_copy import copy_tables
from pipelines.refused import qualified
from pipelines.verifying.comparison import Verified
from pipelines.warehouse import Warehouse


def repair(config: Config, warehouse: Warehouse, capture: Capture, differ: list[Verified]) -> None:
    """On the loop's thread: everything is brought to a snapshot, what differs is made of it anew, and the rest stays.

    While tables are copied the deployment says so: a process that is killed then leaves a warehouse that asks for
    `--resync`.
    """
    d = warehouse.deployment
    copied = {(v.mirror, v.view) for v in differ if v.mirror}
    tables = {t for _, t in copied}
    views = {v.view for v in differ if not v.mirror} | {
        v.name for v in d.views if warehouse.view(v.name)[1].tables & tables
    }
    snapshot = SharedSnapshot(config.source.dsn, [t.quoted for t in d.catalog if qualified(t) in tables])
    try:
        capture.align(snapshot)
        d.status = deployments.RESYNC
        deployments.save(warehouse.path, d)
        try:
            for engine in {e for e, _ in copied}:
                by_key = d.by_key.get(engine, {})
                again = {by_key[t].asked for e, t in copied if e == engine and t in by_key}
                empty(warehouse, engine, [t for t, by in by_key.items() if by.asked in again])
                chosen = [d.mirrored(e, t) for e, t in sorted(copied) if e == engine and t not in by_key]
                before = warehouse.refused(engine)
                if found := copy_tables(config, warehouse, engine, chosen, snapshot.snapshot, before=before):
                    warehouse.refuse(engine, *found.values())
            _fill_again(warehouse, views)
            warehouse.settle()
        except Exception as e:  # what is half copied is nobody's to read
            capture.end(e)
            raise
    finally:
        snapshot.close()
    d.status = "live"
    deployments.save(warehouse.path, d)


def _fill_again(warehouse: Warehouse, views: set[str]) -> None:
    """The states of these views, and of all that share one with them, from the mirrors as they are."""
    for e in warehouse.used_engines():
        engine, plans = warehouse.engine(e), [p for p in warehouse.plans(e)]
        wanted = {s.name for p in plans if p.view in views for s in p.states}
        for name in wanted:
            engine.drop_state(name)
        failed = fill(engine, [s for p in plans for s in p.states if s.name in wanted], lambda _: None)
        if failed:
            raise next(iter(failed.values()))
        for p in plans:
            if p.view in views:
                engine.create_view(p)
