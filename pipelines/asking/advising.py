"""advise: what another strategy would save, of what was measured since the pipeline was started. It changes nothing.

Each piece of advice is an option of CREATE MATERIALIZED VIEW, with the figures that it comes from. Answers are the same
with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from textwrap import fill

from compiler.errors import TidemarkError
from compiler.maintain.plan import ViewPlan
from compiler.maintain.strategy import PLAIN, paces, partial
from compiler.spelling import ident
from compiler.view import compile_view
from pipelines import deployment as deployments
from pipelines.asking.client import connect_running
from pipelines.asking.query import answer
from pipelines.asking.reads import Asking, Reads
from pipelines.config import Config
from pipelines.deployment import DeployedView
from pipelines.kinds import KINDS
from pipelines.observe.work import FEW, Work, Works
from pipelines.warehouse import Warehouse

LAGS = ((3600.0, "1 h"), (600.0, "10 min"), (60.0, "1 min"), (10.0, "10 s"))
WORTH = 0.2  # of what a view takes, that is worth a word
LOOKED = 10  # statements, below which nothing is said of keys
READ_BY = 0.95  # of the statements that read a view have to ask by a column
SELDOM = 1 / 3  # of the keys are asked for, at most
OFTEN = 0.5
WIDTH = 80


@dataclass(frozen=True)
class Advice:
    """`options`: what to write after WITH. `saves`: what it would, and `because`: what was measured."""

    view: str
    options: str
    saves: str
    because: str

    def line(self) -> str:
        words = fill(f"{self.saves}. {self.because}", WIDTH, initial_indent="  ", subsequent_indent="  ")
        return f"{self.view}: WITH ({self.options})\n{words}"


def advise(warehouse: Warehouse, works: Works, reads: Reads) -> list[Advice]:
    """Of all views that are maintained."""
    out: list[Advice] = []
    for v in warehouse.deployment.views:
        if not v.error:
            out += _view(warehouse, v, works, reads.of(v.name))
    return out


def measured(config: Config) -> list[dict[str, str]]:
    """Of the pipeline that runs; raises TidemarkError where none does."""
    deployments.require(config.warehouse_path)
    running = connect_running(config.warehouse_path)
    if running is None:
        raise TidemarkError(
            "nothing was measured: no pipeline runs",
            code="not_running",
            hint="Start tidemark run, let it work and be asked for a while, and ask again.",
        )
    with running:
        return running.advise()


def to_json(found: list[Advice]) -> list[dict[str, str]]:
    return [asdict(a) for a in found]


def _view(warehouse: Warehouse, v: DeployedView, works: Works, asked: Asking) -> Iterator[Advice]:
    plan = warehouse.view(v.name)[1]
    if plan.strategy in PLAIN and plan.lag is None:
        yield from _by_key(warehouse, v, plan, asked)
        if KINDS[v.engine].in_process(warehouse.deployment.location):
            yield from _later(v, works.of(v.name), works.lasted, asked)
    if plan.strategy == partial.NAME:
        yield from _whole(warehouse, v, plan)


def _later(v: DeployedView, w: Work, lasted: float, asked: Asking) -> Iterator[Advice]:
    """A view that is read more rarely than it is maintained: several batches at once."""
    if w.batches < FEW or lasted <= 0:
        return
    between = lasted / (asked.reads + 1)
    lag = next(((s, text) for s, text in LAGS if s <= between), None)
    if lag is None:
        return
    folds = asked.reads + lasted / lag[0]
    saved = w.fixed * max(w.batches - folds, 0.0)
    if saved < WORTH * w.seconds:
        return
    yield Advice(
        v.name,
        f"target_lag = '{lag[1]}'",
        f"It would save about {saved / w.seconds:.0%} of what keeping it takes",
        f"In {_time(lasted)} it took {w.batches:,} batches, {w.seconds:.2f} s of work, of which "
        f"{1000 * w.fixed:.1f} ms a batch do not depend on its rows, and was {_times(asked.reads)}. With "
        f"strategy {paces.NAME} it may be {lag[1]} old, and tidemark query --wait finishes it.",
    )


def _by_key(warehouse: Warehouse, v: DeployedView, plan: ViewPlan, asked: Asking) -> Iterator[Advice]:
    """A view that is asked by the values of a column, of which few are asked for."""
    if (
        asked.looked < LOOKED
        or KINDS[v.engine].executors
        and not KINDS[v.engine].in_process(warehouse.deployment.location)
    ):
        return
    for column, (n, values) in sorted(asked.by.items()):
        if n < READ_BY * asked.looked or not values:
            continue
        there, rows = _distinct(warehouse, v.name, column)
        if not there or len(values) > SELDOM * there:
            continue
        can = _partial(warehouse, v.name, column)
        if can is None:
            continue
        others = {t for p in warehouse.plans(v.engine) if p.view != v.name for t in p.tables}
        tables = ", ".join(sorted(can.by_key.keys() - others))
        size = sum(warehouse.engine(v.engine).size(s.name)[1] for s in plan.states)
        saved = 1 - len(values) / there
        no_copy = f"; with keep_mirrors = false {tables} would not be copied" if tables else ""
        yield Advice(
            v.name,
            f"strategy = '{partial.NAME}', key = '{column}'",
            f"It would save about {saved:.0%} of its {_bytes(size)}{no_copy}",
            f"Of {asked.looked:,} statements that were looked at {n:,} ask by {column}, for {len(values):,} of about "
            f"{there:,} values. It has {rows:,} rows. A query that says no key would need --all.",
        )
        return


def _whole(warehouse: Warehouse, v: DeployedView, plan: ViewPlan) -> Iterator[Advice]:
    """A partial view of which most keys are kept."""
    if plan.asked is None or len(plan.asked.columns) != 1 or plan.by_key:
        return
    keys, size = warehouse.engine(v.engine).weight(plan)
    name = ident(plan.asked.columns[0].name).sql("duckdb")
    sql = f"SELECT approx_count_distinct({name}) AS n FROM {ident(v.name).sql('duckdb')}"
    there = int(answer(warehouse, sql, every_key=True).rows["n"][0].as_py() or 0)
    if keys < FEW or keys < OFTEN * there:
        return
    yield Advice(
        v.name,
        "strategy = 'auto'",
        "It would save looking for keys",
        f"It has {keys:,} of about {there:,} keys, {_bytes(size)}: nearly all of it is kept.",
    )


def _distinct(warehouse: Warehouse, view: str, column: str) -> tuple[int, int]:
    name = ident(column).sql("duckdb")
    sql = f"SELECT approx_count_distinct({name}) AS n, count(*) AS rows FROM {ident(view).sql('duckdb')}"
    row = answer(warehouse, sql).rows.to_pylist()[0]
    return int(row["n"] or 0), int(row["rows"])


def _partial(warehouse: Warehouse, view: str, column: str) -> ViewPlan | None:
    """The view as it would be kept by this key; None where it cannot be."""
    texts = {n: c.text.query for n, c in warehouse.compiled.items() if c.text is not None}
    catalog = warehouse.deployment.to_catalog()
    for mirrors in (False, True):
        try:
            return compile_view(view, texts[view], catalog, texts, partial.NAME, (column,), None, mirrors)
        except TidemarkError:
            continue
    return None


def _time(seconds: float) -> str:
    return (
        f"{seconds / 3600:.1f} h"
        if seconds >= 3600
        else f"{seconds / 60:.0f} min"
        if seconds >= 120
        else f"{seconds:.0f} s"
    )


def _times(n: int) -> str:
    return "not read" if not n else f"read {'once' if n == 1 else f'{n:,} times'}"


def _bytes(n: int) -> str:
    return f"{n / 1e6:,.1f} MB" if n >= 100_000 else f"{n / 1e3:,.1f} kB"
