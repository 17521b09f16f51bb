"""What a deployment is made of, from the views there are, and the making of its states and views."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from compiler.catalog import Catalog, Table, mirror_name
from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan, states_of
from connectors.postgres.snapshot import ExportedSnapshot
from pipelines.deploying import ahead
from pipelines.deploying.filling import fill
from pipelines.deploying.initial_copy import Refusals
from pipelines.deployment import DeployedView
from pipelines.project import Compiled
from pipelines.refused import qualified, reads, to_keep
from pipelines.warehouse import Warehouse


def needed(views: list[Compiled]) -> dict[str, list[str]]:
    """Tables to mirror, by engine."""
    out: dict[str, list[str]] = {}
    for v in views:
        assert v.plan is not None
        listed = out.setdefault(v.engine, [])
        listed += [t for t in sorted(v.plan.tables) if t not in listed]
    return {e: sorted(ts) for e, ts in out.items()}


def columns(views: list[Compiled], tables: dict[str, list[str]], catalog: Catalog) -> dict[str, dict[str, list[str]]]:
    """What mirrors of these tables have, by engine and table."""
    out: dict[str, dict[str, list[str]]] = {}
    for e, ts in tables.items():
        plans = [v.plan for v in views if v.engine == e and v.plan is not None]
        out[e] = {qualified(t): to_keep(t, plans) for t in catalog_tables({*ts}, catalog)}
    return out


def catalog_tables(names: set[str], catalog: Catalog) -> list[Table]:
    return [t for t in catalog.tables.values() if f"{t.schema}.{t.name}" in names]


def records(views: list[Compiled]) -> list[DeployedView]:
    return [DeployedView(v.name, _create(v), v.engine, v.maintenance, v.reason, v.strategy) for v in views]


def _create(v: Compiled) -> str:
    assert v.text is not None
    options = ", ".join(f"{k} = '{x}'" for k, x in v.text.options.items())
    name = v.name.replace('"', '""')
    columns = v.text.query.args.get("_columns") or []
    listed = " (" + ", ".join('"' + c.replace('"', '""') + '"' for c in columns) + ")" if columns else ""
    return f'CREATE MATERIALIZED VIEW "{name}"{listed}{f" WITH ({options})" if options else ""} AS\n{v.text.sql}'


REWRITTEN = "rewritten_meanwhile"  # the code of that error


def check_copied(snapshot: ExportedSnapshot) -> None:
    """Raises where a table was truncated or rewritten while it was copied."""
    if tables := snapshot.rewritten():
        raise TidemarkError(
            f"{min(tables)} was truncated or rewritten while it was copied",
            code=REWRITTEN,
            detail="Postgres shows such a change to snapshots taken before it.",
            hint="Run tidemark deploy again.",
        )


def shape(plan: ViewPlan | None) -> tuple[object, ...]:
    """What makes it the view that it is: its columns and states; another one has others."""
    return ([(n, c.type) for n, c in plan.outputs], [s.name for s in plan.states]) if plan is not None else ()


def build(warehouse: Warehouse, say: Callable[[str], None], may_fail: list[Compiled]) -> None:
    """Create the states and views that are not there yet.

    Of the views `may_fail`, one whose state cannot be filled is left out and carries the error.
    """
    for e in warehouse.used_engines():
        engine = warehouse.engine(e)
        ahead.take(warehouse, e)
        failures = fill(engine, states_of(warehouse.plans(e)), say)
        for p in warehouse.plans(e):
            try:
                if broken := [failures[s.name] for s in p.states if s.name in failures]:
                    raise copy(broken[0])  # of which each view says that it is its own
                engine.create_view(p)
            except Exception as found:
                error = (
                    found
                    if isinstance(found, TidemarkError)
                    else TidemarkError(
                        f'view "{p.view}" could not be built',
                        detail=f"{type(found).__name__}: {found}"[:300],
                        code="compiler_bug",
                        hint="This is a bug of Tidemark; please report it.",
                    )
                )
                error.view = p.view
                failed = next((v for v in may_fail if v.name == p.view), None)
                if failed is None:
                    raise error from found
                failed.error = error
                warehouse.forget(p.view)


def without_refused(warehouse: Warehouse, engine: str, refusals: Refusals, views: list[Compiled], strict: bool) -> None:
    """Leave out the engine's views that read a column with a value which does not fit: they carry the error, or, if
    `strict`, it is raised."""
    for (table, column), error in refusals.items():
        for v in views:
            if v.plan is None or v.error is not None or v.engine != engine or not reads(v.plan, table, column):
                continue
            if strict:
                error.view = v.name
                raise error
            v.error = error
            warehouse.forget(v.name)


def plans(warehouse: Warehouse) -> dict[str, list[ViewPlan]]:
    return {e: warehouse.plans(e) for e in warehouse.used_engines()}


def drop_others(warehouse: Warehouse, kept: dict[str, list[ViewPlan]]) -> None:
    """Drop the states, and the keys of partial views, that no plan has: `kept` by engine."""
    for e in warehouse.used_engines():
        engine = warehouse.engine(e)
        plans = kept.get(e, [])
        for name in engine.states() - {s.name for s in states_of(plans)}:
            engine.drop_state(name)
        keys = {p.asked.table.mirror for p in plans if p.asked is not None}
        keys |= {mirror_name(by.asked) for by in warehouse.deployment.by_key.get(e, {}).values()}
        for name in engine.keys() - keys:
            engine.drop_mirror(name)
