"""deploy, by whoever has the warehouse: the pipeline that runs it, between two batches, or this process."""

from __future__ import annotations

from typing import Any

from compiler.errors import TidemarkError
from pipelines import deployment as deployments
from pipelines.asking.client import connect_running
from pipelines.config import Config
from pipelines.deploying import deploy as stopped
from pipelines.deploying.arriving import arriving
from pipelines.deploying.building import REWRITTEN
from pipelines.deploying.deploy import Deployed, compiled
from pipelines.deploying.initial_copy import Progress
from pipelines.deploying.order import Order, Say
from pipelines.project import refuse

TRIES = 3  # with tables that are truncated or rewritten while they are copied


def deploy(config: Config, keep_going: bool, progress: Progress, say: Say, resync: bool) -> Deployed:
    """As `deploying.deploy`. Views are compiled here in any case, so that what is refused bothers no pipeline."""
    for _ in range(TRIES - 1):
        try:
            return _deploy(config, keep_going, progress, say, resync)
        except TidemarkError as e:
            if e.code != REWRITTEN:
                raise
            say(f"{e.message}: copying again")
    return _deploy(config, keep_going, progress, say, resync)


def _deploy(config: Config, keep_going: bool, progress: Progress, say: Say, resync: bool) -> Deployed:
    running = connect_running(config.warehouse_path)
    if running is None:
        return stopped.deploy(config, keep_going, progress, say, resync)
    with running:
        if resync:
            raise deployments.WarehouseBusy(
                "tables are copied again by a pipeline that does not run",
                code="warehouse_in_use",
                detail=f"One has the warehouse {config.warehouse_path}, and its files take the place of others.",
                hint="Stop it, and run tidemark deploy --resync; a table that was altered needs no more than deploy.",
            )
        catalog, views = compiled(config)
        if not keep_going:
            refuse(views)
        if why := running.waits_for():
            say(why)
        try:
            with arriving(Order(config, catalog, views, progress, say)):
                answer = running.deploy(keep_going)
        except ConnectionError as e:
            raise TidemarkError(
                "the pipeline ended while it deployed",
                code="stopped",
                detail="It says why in its own log. What it had not finished is undone, or done, by the next command.",
                hint="Run: tidemark deploy",
            ) from e
    outcome = {v["name"]: v for v in answer["views"]}
    if others := [v.name for v in views if v.error is None and v.name not in outcome]:
        raise TidemarkError(
            f'the pipeline that runs does not know of view "{others[0]}"',
            code="other_project",
            detail=f"It has the warehouse {config.warehouse_path}, and the views of another folder.",
            hint="Give this project a warehouse of its own ([warehouse] path), or deploy in the pipeline's folder.",
        )
    for v in views:
        if v.error is None and v.name in outcome:
            v.engine, v.location = outcome[v.name]["engine"], outcome[v.name]["location"]
            v.error = _error(outcome[v.name]["error"])
    return Deployed(views, answer["warnings"])


def outcome_of(done: Deployed) -> dict[str, Any]:
    """What the pipeline answers."""
    views = [{"name": v.name, "engine": v.engine, "location": v.location, "error": _shown(v.error)} for v in done.views]
    return {"views": views, "warnings": done.warnings}


def _shown(e: TidemarkError | None) -> dict[str, str] | None:
    return None if e is None else {"message": e.message, "detail": e.detail, "hint": e.hint, "code": e.code}


def _error(shown: dict[str, str] | None) -> TidemarkError | None:
    return None if shown is None else TidemarkError(**shown)
