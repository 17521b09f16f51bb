"""The command line: arguments in, exit codes out. What commands do is in the modules they call."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from compiler.errors import TidemarkError


class Cli(click.Group):
    """Turns errors a user can cause into message, detail and hint, and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TidemarkError as e:
            if ctx.params.get("debug"):
                traceback.print_exc()
            view = f'view "{e.view}": ' if getattr(e, "view", None) else ""  # type: ignore[attr-defined]
            click.echo(f"error: {view}{e}", err=True)
            ctx.exit(e.exit_code)
        except KeyboardInterrupt:
            ctx.exit(130)


@click.group(cls=Cli, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option("--project", type=click.Path(file_okay=False, path_type=Path), default=Path("."), help="Folder of tidemark.toml.")
@click.version_option(package_name="tidemark")
@click.pass_context
def main(ctx: click.Context, debug: bool, project: Path) -> None:
    """Keep SQL views in a warehouse fresh with what is committed in Postgres."""
    ctx.obj = project


@main.command()
@click.option("--keep-going", is_flag=True, help="Deploy the good views even when some are refused.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each view as JSON.")
@click.pass_obj
def deploy(project: Path, keep_going: bool, as_json: bool) -> None:
    """Publication, slot, snapshot, states and views, to match views/*.sql."""
    from pipelines import deploy as run
    from pipelines.config import load_config
    from pipelines.progress import deploying

    with deploying(quiet=as_json) as (progress, say):
        done = run.deploy(load_config(project), keep_going, progress, say)
    if as_json:
        click.echo(json.dumps({"views": [v.told() for v in done.views]}, indent=1))
    else:
        for v in done.views:
            if v.error is None:
                why = f" ({v.reason['code']}: {v.reason['message']})" if v.reason else ""
                click.echo(f"{v.name}: {v.maintenance} on {v.engine}{why}")
            else:
                click.echo(f"{v.name}: refused\n{v.error}", err=True)
    for w in done.warnings:
        click.echo(f"warning: {w}", err=True)
    if any(v.error for v in done.views) and not as_json:
        sys.exit(1)


@main.command()
@click.option("--once", is_flag=True, help="Catch up with the source's current LSN and stop.")
@click.pass_obj
def run(project: Path, once: bool) -> None:
    """Keep the views fresh until stopped."""
    from pipelines import run as loop
    from pipelines.config import load_config

    loop.run(load_config(project), once)


@main.command()
@click.argument("views", nargs=-1)
@click.option("--to", "target", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@click.option("--format", "fmt", type=click.Choice(["parquet", "csv"]), default="parquet")
@click.pass_obj
def export(project: Path, views: tuple[str, ...], target: Path, fmt: str) -> None:
    """One file or folder per view, columns in view order."""
    from pipelines import export as run
    from pipelines.config import load_config

    run.export(load_config(project), list(views), (project / target) if not target.is_absolute() else target, fmt)


@main.command()
@click.argument("views", nargs=-1)
@click.option("--repair", is_flag=True, help="Compute what differs again.")
@click.pass_obj
def verify(project: Path, views: tuple[str, ...], repair: bool) -> None:
    """Compare views with the source at one LSN, both ways."""
    from pipelines import verify as run
    from pipelines.config import load_config

    results = run.verify(load_config(project), list(views), repair)
    for r in results:
        click.echo(r.line())
    if any(not r.equal for r in results):
        sys.exit(1)


@main.command()
@click.option("--yes", is_flag=True, help="Do it.")
@click.pass_obj
def teardown(project: Path, yes: bool) -> None:
    """Drop slot, publication and warehouse."""
    from pipelines import deployment
    from pipelines.config import load_config
    from pipelines.deploy import drop_source_objects, remove_warehouse

    config = load_config(project)
    found = deployment.load(config.warehouse_path)
    if not yes:
        raise click.UsageError("teardown drops the slot, the publication and the warehouse; say --yes")
    if found is None:
        click.echo("nothing is deployed")
        return
    with deployment.locked(config.warehouse_path):
        drop_source_objects(config.source.dsn, found)
        remove_warehouse(config)
    click.echo("dropped slot, publication and warehouse")


if __name__ == "__main__":
    main()
