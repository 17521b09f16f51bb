"""Reading a warehouse: through the pipeline that runs it when there is one, otherwise by opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from compiler.errors import InvalidSql, TidemarkError
from compiler.ir.relation import Aggregate, walk
from compiler.maintain.kept import lagging
from pipelines.asking import at_source
from pipelines.asking.query import Answer, Asker, answer
from pipelines.asking.states import StateStatus, mirrors_of, states_of
from pipelines.config import Config
from pipelines.deployment import DeployedView, Deployment
from pipelines.kinds import ONE_MACHINE
from pipelines.pacing.finishing import Behind, behind
from pipelines.pacing.telling import progress
from pipelines.private import published
from pipelines.warehouse import Warehouse

if TYPE_CHECKING:
    from pipelines.asking.client import RemoteReader


class Reader(Protocol):
    def export(self, view: str, path: Path, fmt: str, every_key: bool = False) -> None:
        """Raises TidemarkError for a partial view, unless it is to be computed for `every_key`."""
        ...

    def threads(self, view: str) -> int:
        """How many views of its engine can be exported at once."""
        ...

    def query(self, sql: str, internal: bool = False, every_key: bool = False) -> pa.Table:
        """`internal`: mirrors and states may be read too. `every_key`: partial views are computed for all keys."""
        ...

    def rows(self) -> dict[str, int | None]:
        """Rows that are kept for each view that is maintained; None where that is not known without reading them."""
        ...

    def sizes(self, view: str) -> dict[str, tuple[int, int]]:
        """Per state of a view: rows and bytes."""
        ...

    def behind(self) -> dict[str, Behind]:
        """How far each view is that may lag."""
        ...

    def states(self) -> list[StateStatus]:
        """How far each state is."""
        ...

    def mirrors(self) -> dict[str, dict[str, int | None]]:
        """The bytes of each mirror, by engine and table; None where that is not known without reading it."""
        ...

    def paces(self, view: str) -> dict[str, Any]:
        """What was planned for a view that may lag, and what came of it (`pacing.telling`)."""
        ...

    def frontiers(self) -> dict[str, int]: ...

    def fresh_at(self) -> dict[str, float]:
        """Per engine, the time (seconds since the epoch) at which it last held all that the source had."""
        ...


class LocalReader:
    """Reads a warehouse that nobody else has open."""

    def __init__(self, warehouse: Warehouse, asker: Asker | None = None) -> None:
        self.warehouse, self.asker = warehouse, asker or Asker()

    def close(self) -> None:
        self.warehouse.close()

    def export(self, view: str, path: Path, fmt: str, every_key: bool = False) -> None:
        """A partial view of which no copy is kept is computed by the source."""
        v, plan = self.warehouse.view(view)
        if v.error:
            raise self.warehouse.set_aside_error(v)
        if plan.asked is not None and not every_key:
            raise InvalidSql(
                f'view "{view}" is partial: only some keys of it are kept',
                hint="tidemark export --all computes it for every key.",
                code="partial_needs_key",
            )
        if plan.asked is not None and at_source.source_alone(self.warehouse, view):
            at_source.export(self.warehouse, plan, path, fmt)
        else:
            self.warehouse.engine(v.engine).export(plan, path, fmt)
        published(path)

    def threads(self, view: str) -> int:
        return self.warehouse.engine(self.warehouse.view(view)[0].engine).threads

    def query(self, sql: str, internal: bool = False, every_key: bool = False) -> pa.Table:
        return self.answer(sql, internal, every_key).rows

    def answer(self, sql: str, internal: bool = False, every_key: bool = False) -> Answer:
        return answer(self.warehouse, sql, internal, self.asker, every_key)

    def rows(self) -> dict[str, int | None]:
        return {v.name: self._rows(v) for v in self.warehouse.deployment.views if not v.error}

    def _rows(self, v: DeployedView) -> int | None:
        """Of the last state of the view, without evaluating anything; None where readers add up."""
        plan = self.warehouse.view(v.name)[1]
        if not plan.states or lagging(plan.states) or any(isinstance(n, Aggregate) for n in walk(plan.top)):
            return None
        return self.warehouse.engine(v.engine).rows(plan.states[-1].name)

    def sizes(self, view: str) -> dict[str, tuple[int, int]]:
        v, plan = self.warehouse.view(view)
        return {} if v.error else {s.name: self.warehouse.engine(v.engine).size(s.name) for s in plan.states}

    def behind(self) -> dict[str, Behind]:
        plans = [(e, p) for e in self.warehouse.used_engines() for p in self.warehouse.plans(e) if p.lag is not None]
        return {p.view: behind(self.warehouse.engine(e), p) for e, p in plans}

    def states(self) -> list[StateStatus]:
        return states_of(self.warehouse)

    def mirrors(self) -> dict[str, dict[str, int | None]]:
        return mirrors_of(self.warehouse)

    def paces(self, view: str) -> dict[str, Any]:
        v, plan = self.warehouse.view(view)
        return {} if v.error else progress(self.warehouse.engine(v.engine), plan, self.warehouse.cohort(view))

    def frontiers(self) -> dict[str, int]:
        return {e: self.warehouse.engine(e).frontier() for e in self.warehouse.used_engines()}

    def fresh_at(self) -> dict[str, float]:
        return {e: self.warehouse.fresh_at(e) for e in self.warehouse.used_engines()}


@contextmanager
def reader(config: Config, d: Deployment) -> Iterator[Reader]:
    """The running pipeline, or the warehouse itself where none runs."""
    found = _reader(config, d)
    try:
        yield found
    finally:
        found.close()


def _reader(config: Config, d: Deployment) -> RemoteReader | LocalReader:
    from pipelines.asking.client import connect_running

    running = connect_running(config.warehouse_path)
    if running is not None:
        return running
    warehouse = Warehouse(config, d, read_only=True)
    try:
        if ONE_MACHINE.name in warehouse.used_engines():
            warehouse.engine(ONE_MACHINE.name)
        return LocalReader(warehouse)
    except TidemarkError as e:
        warehouse.close()
        running = connect_running(config.warehouse_path) if e.code == "warehouse_in_use" else None
        if running is None:
            raise
        return running  # it was just starting
