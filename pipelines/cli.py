"""The command line: arguments in, exit codes out. What commands do is in the modules they call."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import click

from compiler.errors import TidemarkError
from pipelines.examples import show_examples
from pipelines.interrupts import keep_interrupts
from pipelines.kinds import KINDS
from pipelines.private import keep_private
from pipelines.reporting import Reporting


@click.group(cls=Reporting, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option(
    "--project", type=click.Path(file_okay=False, path_type=Path), default=Path("."), help="Folder of tidemark.toml."
)
@click.version_option(package_name="tidemark")
@click.pass_context
def main(ctx: click.Context, debug: bool, project: Path) -> None:
    """Keep SQL views in a warehouse fresh with what is committed in Postgres."""
    ctx.obj = project
    keep_private()
    keep_interrupts()
    if not debug:
        logging.getLogger("sqlglot").setLevel(
            logging.ERROR
        )  # it warns of what it cannot read, which becomes an error of ours


@main.command()
@click.pass_obj
def init(project: Path) -> None:
    """Write a commented project."""
    from pipelines.init import init as write

    for path in write(project):
        click.echo(f"wrote {path}")


@main.command()
@click.option("--grants", is_flag=True, help="Print the SQL that lets this user do what the views need, and no more.")
@click.option("--connector", is_flag=True, help="Print Debezium's connector for this deployment, for Kafka Connect.")
@click.pass_obj
def check(project: Path, grants: bool, connector: bool) -> None:
    """Preflight: what about the source would stop or hurt a deployment."""
    from connectors.postgres import grants as rights
    from connectors.postgres.connection import connect
    from connectors.postgres.preflight import preflight
    from pipelines import deployment
    from pipelines.config import load_config
    from pipelines.deploying.connector import elsewhere
    from pipelines.deploying.source_objects import orphans
    from pipelines.deploying.unsuited import check_capture
    from pipelines.project import compile_project, read_views, refuse
    from pipelines.source_catalog import source_catalog
    from pipelines.verifying.findings import deployed, unowned

    config = load_config(project)
    found = deployment.load(config.warehouse_path)
    with connect(config.source.dsn) as conn:
        if connector:
            click.echo(json.dumps(elsewhere(conn, deployment.require(config.warehouse_path)), indent=2))
            return
        catalog = source_catalog(conn, config)
        views = compile_project(read_views(config.views_path), catalog) if config.views_path.is_dir() else []
        tables = {t for v in views if v.plan is not None for t in v.plan.tables}
        if grants:
            read = [t for t in catalog.tables.values() if f"{t.schema}.{t.name}" in tables]
            click.echo(rights.script(rights.grants(conn, read)))
            return
        there = found if found is not None and found.status != "snapshot" else None  # not one that came to nothing
        findings = preflight(conn, catalog, tables, there.slot if there else None)
        findings += deployed(conn, there, config.source.capture) if there else []
        findings += unowned(orphans(conn, found))
        check_capture(views, catalog, config.source.capture)
    for f in findings:
        click.echo(f.lines())
    try:
        refuse(views)
    except TidemarkError as e:
        click.echo(e.report(), err=True)
    if any(f.level == "error" for f in findings) or any(v.error for v in views):
        sys.exit(1)


@main.command("compile")
@click.argument("views", nargs=-1)
@click.option(
    "--schema", type=click.Path(dir_okay=False, path_type=Path), help="CREATE TABLE statements, instead of a server."
)
@click.option("--engine", type=click.Choice(list(KINDS)))
@click.pass_obj
def compile_(project: Path, views: tuple[str, ...], schema: Path | None, engine: str | None) -> None:
    """Print the maintenance SQL of views."""
    from pipelines.asking.explain import compiled, scripts

    for text in scripts(compiled(project, list(views), schema, engine)):
        click.echo(text)


@main.command()
@click.argument("view")
@click.option(
    "--schema", type=click.Path(dir_okay=False, path_type=Path), help="CREATE TABLE statements, instead of a server."
)
@click.option("--engine", type=click.Choice(list(KINDS)))
@click.option("--format", "fmt", type=click.Choice(["text", "json", "mermaid"]), default="text")
@click.pass_obj
def explain(project: Path, view: str, schema: Path | None, engine: str | None, fmt: str) -> None:
    """Algebra, delta rules, states, strategy and why."""
    from pipelines.asking.explain import compiled, paces, render, sizes

    v = compiled(project, [view], schema, engine)[0]
    kept, paced = None, None
    if schema is None:
        try:
            kept, paced = sizes(project, view), paces(project, v)
        except TidemarkError as e:  # the rest does not need the warehouse
            v.notes.append(f"the sizes of its states cannot be read: {e.message}")
    click.echo(render(v, fmt, kept, paced))


@main.command()
@click.option("--json", "as_json", is_flag=True)
@click.option("--states", is_flag=True, help="Each state and mirror, too: what it is, and how far.")
@click.option("--watch", is_flag=True, help="Print again every second until stopped.")
@click.pass_obj
def status(project: Path, as_json: bool, states: bool, watch: bool) -> None:
    """Per view: engine, maintenance, rows, frontier, staleness; slot and retained WAL."""
    import time

    from pipelines.asking.status import plain
    from pipelines.asking.status import status as read
    from pipelines.config import load_config
    from pipelines.observe.live import live_table

    config = load_config(project)
    if not watch:
        s = read(config, states)
        click.echo(json.dumps(s.to_json(), indent=1) if as_json else plain(s))
        return
    with live_table() if sys.stdout.isatty() and not as_json else nullcontext() as show:
        while True:
            s = read(config)
            if show is not None and s.pipeline is not None:
                show(s.pipeline)
            else:
                click.echo(json.dumps(s.to_json()) if as_json else plain(s))
            time.sleep(1)


@main.command()
@click.argument("sql")
@click.option("--wait", is_flag=True, help="Wait until the views include everything committed before the call.")
@click.option("--internal", is_flag=True, help="Read mirrors (base.…) and states (state.…), too.")
@click.option(
    "--all", "every_key", is_flag=True, help="Compute partial views for every key, not those asked for alone."
)
@click.option("--format", "fmt", type=click.Choice(["table", "csv", "json"]), default="table")
@click.pass_obj
def query(project: Path, sql: str, wait: bool, internal: bool, every_key: bool, fmt: str) -> None:
    """Read the views with SQL."""
    from pipelines.asking.ask import ask, render
    from pipelines.config import load_config

    rows = ask(load_config(project), sql, wait, internal, every_key, lambda s: click.echo(f"note: {s}", err=True))
    click.echo(render(rows, fmt))


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def advise(project: Path, as_json: bool) -> None:
    """What another strategy would save, of what the running pipeline has measured; it changes nothing."""
    from pipelines.asking.advising import Advice, measured
    from pipelines.config import load_config

    found = measured(load_config(project))
    if as_json:
        click.echo(json.dumps({"advice": found}, indent=1))
        return
    for a in found:
        click.echo(Advice(**a).line())
    if not found:
        click.echo("nothing: no other strategy is known to save much of what was measured")


@main.command()
@click.option("--seconds", default=60, show_default=True, help="How long the workload writes.")
@click.option("--spark/--no-spark", default=True, help="Keep two of the six views on Spark.")
@click.option("--keep", is_flag=True, help="Keep the project folder.")
def demo(seconds: int, spark: bool, keep: bool) -> None:
    """All of it, live, on an embedded Postgres."""
    from pipelines.showing.demo import demo as show

    sys.exit(show(seconds, spark, keep))


@main.command()
@click.option("--keep-going", is_flag=True, help="Deploy the good views even when some are refused.")
@click.option(
    "--resync",
    is_flag=True,
    help="Copy again the tables whose changes were lost (slot or server replaced, publication altered).",
)
@click.option("--json", "as_json", is_flag=True, help="Print what became of each view as JSON.")
@click.pass_obj
def deploy(project: Path, keep_going: bool, resync: bool, as_json: bool) -> None:
    """Publication, slot, snapshot, states and views, to match views/*.sql."""
    from pipelines.config import load_config
    from pipelines.progress import deploying
    from pipelines.project import refuse
    from pipelines.running import deploying as run

    with deploying(quiet=as_json) as (progress, say):
        done = run.deploy(load_config(project), keep_going, progress, say, resync)
    if as_json:
        click.echo(json.dumps({"views": [v.to_json() for v in done.views]}, indent=1))
    else:
        for v in done.views:
            if v.error is None:
                why = f" ({v.reason['code']}: {v.reason['message']})" if v.reason else ""
                where = f" ({v.location})" if v.location else ""
                click.echo(f"{v.name}: {v.maintenance} on {v.engine}{where}{why}")
    for w in done.warnings:
        click.echo(f"warning: {w}", err=True)
    refuse(done.views)


@main.command()
@click.option(
    "--once", is_flag=True, help="Try again what is set aside, catch up with the source's current LSN, and stop."
)
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), help="Log to stderr in this format, also on a terminal."
)
@click.pass_obj
def run(project: Path, once: bool, log_format: Literal["text", "json"] | None) -> None:
    """Keep the views fresh until stopped; on a terminal, show how fresh they are."""
    from pipelines.config import load_config
    from pipelines.observe.log import configure
    from pipelines.observe.observer import Observer
    from pipelines.running import run as loop

    config = load_config(project)
    if once:
        loop.run(config, once)
    elif log_format is None and sys.stdout.isatty():
        from pipelines.observe.live import live_table

        with live_table() as show:
            loop.run(config, once, Observer(), lambda o: show(o.state.snapshot()))
    else:
        loop.run(config, once, Observer(log=configure(log_format or "text")))


@main.command()
@click.argument("views", nargs=-1)
@click.option("--to", "target", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@click.option("--format", "fmt", type=click.Choice(["parquet", "csv"]), default="parquet")
@click.option("--all", "every_key", is_flag=True, help="Partial views too, computed for every key.")
@click.pass_obj
def export(project: Path, views: tuple[str, ...], target: Path, fmt: str, every_key: bool) -> None:
    """One file or folder per view, columns in view order."""
    from pipelines.asking import export as run
    from pipelines.config import load_config

    folder = (project / target) if not target.is_absolute() else target
    run.export(load_config(project), list(views), folder, fmt, every_key)


@main.command()
@click.argument("views", nargs=-1)
@click.option("--repair", is_flag=True, help="Compute what differs again.")
@click.pass_obj
def verify(project: Path, views: tuple[str, ...], repair: bool) -> None:
    """Compare views with the source at one LSN, both ways."""
    from pipelines.config import load_config
    from pipelines.verifying import verify as run

    results = run.verify(load_config(project), list(views), repair, lambda text: click.echo(text, err=True))
    for r in results:
        click.echo(r.line())
    if any(not r.equal for r in results):
        sys.exit(1)


@main.command()
@click.option("--yes", is_flag=True, help="Do it.")
@click.pass_obj
def teardown(project: Path, yes: bool) -> None:
    """Drop slot, publication and warehouse."""
    from pipelines.config import load_config
    from pipelines.deploying.teardown import teardown as drop

    config = load_config(project)
    if not yes:
        raise click.UsageError("teardown drops the slot, the publication and the warehouse; say --yes")
    click.echo(drop(config, lambda line: click.echo(line, err=True)))


show_examples(main)

if __name__ == "__main__":
    main()
