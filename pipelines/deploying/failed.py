"""A deploy that failed once tables had been copied for it: what the others are over these tables.

Views stay what they were, and their states were maintained meanwhile. But one may be another view over the table as it
is by now: `SELECT *` has one column more, ties go by another row, a column that it reads has another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compiler.catalog import Catalog
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_view
from pipelines import deployment as deployments
from pipelines.config import Config
from pipelines.deploying.building import shape
from pipelines.deployment import Deployment
from pipelines.project import Compiled, compile_project


def recompiled(d: Deployment, catalog: Catalog) -> list[Compiled]:
    """The deployed views as they are over these tables; one that cannot be carries its error."""
    views = [Compiled(v.name, parse_view(v.text), engine=v.engine, strategy=v.strategy) for v in d.views]
    compile_project(views, catalog, accepted=True)
    return views


def set_others_aside(config: Config, maintained: Mapping[str, list[ViewPlan]], failure: BaseException) -> None:
    """Those that are others by now: their states cannot be maintained on."""
    d = deployments.load(config.warehouse_path)
    if d is None:
        return
    before = {p.view: shape(p) for plans in maintained.values() for p in plans}
    now = {v.name: shape(v.plan) for v in recompiled(d, d.to_catalog())}
    why = str(getattr(failure, "message", "")) or "it was interrupted"
    error = f"a table it reads was altered, and the deploy that was to follow that failed: {why}"
    views = [
        replace(v, error=error) if not v.error and v.name in before and now[v.name] != before[v.name] else v
        for v in d.views
    ]
    if views != d.views:
        d.views = views
        deployments.save(config.warehouse_path, d)
