"""The engines of a warehouse and what is deployed on each: opened when first needed, closed together."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.catalog import Table
from compiler.errors import TidemarkError
from compiler.ir.relation import Values
from compiler.maintain.asked import Asked
from compiler.maintain.cohort import Cohort, cohorts
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_view
from connectors.changed import TableChanged
from connectors.engine import Engine, EngineFailure, Programs
from connectors.key_rows import Hold
from connectors.literal_rows import ValueOutOfRange
from connectors.paced_states import Taking
from connectors.postgres.connection import format_lsn
from pipelines import deployment as deployments
from pipelines.carried import carried, fixed, others
from pipelines.config import Config
from pipelines.deployment import CATALOG, ByKey, DeployedView, Deployment
from pipelines.engines import opened, printer
from pipelines.kinds import KINDS
from pipelines.maintaining import Maintaining
from pipelines.project import Compiled, compile_project
from pipelines.refused import ALL, Refused, kept, lacking, parts, qualified, reads

log = logging.getLogger("tidemark")
HEALING_FILE = "healing.json"  # when a command last tried to fill what was set aside, and for how long
FRESH_FILE = "fresh.json"  # engine → its frontier, and when it was last known to hold all that the source had
MORE_LABELS = "an enum has more labels, and it hangs on their order"
OTHER_EXPRESSION = "a generated column that it reads has another expression, or none"
UNFINISHED = "unfinished"  # a file that is there while a deploy changes what views read


def warn(view: str, why: str) -> None:
    log.warning('view "%s" is set aside: %s (the other views go on; tidemark deploy fills it again)', view, why)


class Warehouse:
    """Engines by name, and the compiled plans of the deployed views."""

    def __init__(self, config: Config, deployment: Deployment, read_only: bool = False) -> None:
        self.config, self.deployment, self.read_only = config, deployment, read_only
        self.path: Path = config.warehouse_path
        self.engines: dict[str, Engine] = {}
        self.compiled: dict[str, Compiled] = {}
        self.maintaining = Maintaining(lambda e: printer(e, self.path, self.deployment))
        self.noted = deployment.catalog  # as it was stored
        self.settling = False  # whether rows may be later than the frontier: what the stream brings replaces them
        self.lock, self.opening = threading.Lock(), threading.RLock()
        self.aside: Callable[[str, str], None] = warn  # told of views that are set aside, and why
        self.renamed: Callable[[str, str], None] = lambda what, now: None  # told of what the source calls otherwise
        self.unfit: dict[str, str] = {}  # views that are set aside in memory only, and why
        self.recompile()

    def recompile(self) -> None:
        """Plans are made from the views' text by this version of the compiler, never stored."""
        self._take(self._compiled())

    def _take(self, compiled: list[Compiled]) -> None:
        """These are the deployed views."""
        self.maintaining.forget()
        for v, d in zip(compiled, self.deployment.views, strict=True):
            v.engine = d.engine
            self.compiled[v.name] = v
            if v.plan is None:  # over tables as they are kept by now
                v.plan = ViewPlan(v.name, [], Values((), ()), [], frozenset())
                self._unfit(d, f"{v.error.message}: {v.error.detail}" if v.error is not None else "")
            elif gone := lacking(self.deployment, d.engine, v.plan):
                table, names = min(gone.items())
                self._unfit(d, f"its mirror of {table} has no column {names[0]}, which it reads")
            held = self.deployment.by_key.get(d.engine, {})
            v.plan.by_key = {t: c for t, c in v.plan.by_key.items() if t in held}

    def _compiled(self) -> list[Compiled]:
        """The deployed views, over the tables as they were deployed."""
        views = [
            Compiled(v.name, parse_view(v.text), engine=v.engine, strategy=v.strategy) for v in self.deployment.views
        ]
        return compile_project(views, self.deployment.to_catalog(), accepted=True)

    def _unfit(self, d: DeployedView, why: str) -> None:
        if not d.error:
            d.error = why
            self.unfit[d.name] = why

    def follow_unfit(self) -> None:
        """Set aside for good what cannot be maintained as it is kept: for a process that has the warehouse."""
        with self.lock:
            if found := {v: why for v, why in self.unfit.items() if v in {x.name for x in self.deployment.views}}:
                for view, why in found.items():
                    self._lose_keys(view, why)
                    self._set_aside([view], why)
            self.unfit.clear()

    def _lose_keys(self, view: str, why: str) -> None:
        """Nothing says any more which rows of the tables are kept that were for this view's keys alone."""
        for e, of in self.deployment.by_key.items():
            for t, by in of.items():
                plan = self.compiled[view].plan
                if by.view == view and (plan is None or plan.asked is None):
                    self.deployment.refused.setdefault(e, {})[t] = {ALL: why}

    def engine(self, name: str) -> Engine:
        """The engine, opened when first asked for; raises TidemarkError where its data is another deployment's."""
        with self.opening:
            return self._engine(name)

    def _engine(self, name: str) -> Engine:
        if name not in self.engines:
            self.engines[name] = opened(name, self.config, self.deployment, self.plans(name), self.read_only)
            self._check_mark(name)
        return self.engines[name]

    def _check_mark(self, name: str) -> None:
        """Data is taken for ours by its mark; what an older version made has none."""
        if not self.deployment.mark:
            return
        found = self.engines[name].deployment()
        if not found and not self.read_only:
            self.engines[name].belong(self.deployment.mark)
        elif found and found != self.deployment.mark:
            self.engines.pop(name).close()
            raise TidemarkError(
                f"the data of {name} in {self.path} belongs to another deployment",
                code="stranger",
                detail="It was not filled by what deployment.json describes.",
                hint="Put the two back together, or run: tidemark deploy --resync",
            )

    def tables(self, engine: str) -> list[Table]:
        """The tables that the engine mirrors."""
        d = self.deployment
        by_key = d.by_key.get(engine, {})
        some = [t for t in d.tables.get(engine, []) if t not in by_key or self._asked(by_key[t]) is not None]
        return kept((d.mirrored(engine, t) for t in some), self.refused(engine))

    def holds(self, engine: str) -> dict[str, Hold]:
        """The tables that it mirrors for some keys alone, by qualified name."""
        by_key = self.deployment.by_key.get(engine, {})
        if not by_key:
            return {}
        return {
            name: Hold(replace(t, identity="default"), asked, by_key[name].columns)
            for t in self.tables(engine)
            if (name := qualified(t)) in by_key and (asked := self._asked(by_key[name])) is not None
        }

    def _asked(self, by: ByKey) -> Asked | None:
        """The keys that a table is kept for; None where no view has them: then nothing of it can be."""
        v = self.compiled.get(by.view)
        asked = v.plan.asked if v is not None and v.plan is not None else None
        return asked if asked is not None and asked.name == by.asked else None

    def refused(self, engine: str) -> Refused:
        """Of each table, the columns that the engine does not keep."""
        return self.deployment.refused.get(engine, {})

    def fresh_at(self, engine: str) -> float:
        """When the engine was last known to hold all that the source had; 0 where that is not known."""
        try:
            frontier, at = json.loads((self.path / FRESH_FILE).read_text())[engine]
            return float(at) if int(frontier) <= self.frontier(engine) else 0.0  # else the data is older than the note
        except (OSError, ValueError, TypeError, KeyError):
            return 0.0

    def remember_fresh(self, at: dict[str, float]) -> None:
        temp = self.path / f".{FRESH_FILE}.new"
        temp.write_text(json.dumps({e: (self.frontier(e), t) for e, t in at.items()}))
        temp.replace(self.path / FRESH_FILE)

    def refuse(self, engine: str, *found: ValueOutOfRange | TableChanged) -> None:
        """Keep columns no longer that hold a value no type can, or are others than were deployed; set the views aside
        that read them. Raises the last of `found` where they all were refused before."""
        catalog, left = self.deployment.catalog, self._carry_on(found, labels=False)  # others may be at work
        refused = [e for e in left if isinstance(e, ValueOutOfRange | TableChanged) and self._refuse(engine, e)]
        if not refused and self.deployment.catalog is catalog:
            raise found[-1]

    def follow(self, altered: list[TableChanged]) -> None:
        """Keep no longer, on any engine, what was altered in the source; enums may have more labels."""
        left = self._carry_on(altered)
        for engine in self.used_engines():
            for e in left:
                if isinstance(e, TableChanged):
                    self._refuse(engine, e)
        self.keep_notes()

    def _carry_on(self, found: Sequence[Exception], labels: bool = True) -> list[Exception]:
        """What cannot be, of what was altered. Tables and columns may have other names in the source: they keep theirs
        here. Enums may have more labels: views are set aside that are something else with them, where every engine is
        at rest."""
        d = self.deployment
        with CATALOG, self.lock:
            new = carried(found, d.catalog, fixed(d, self.config.source.capture), labels)
            catalog = new.over(d.catalog)
            if catalog == d.catalog and not new.expressions:
                return new.left
            for what, now in new.told(d.catalog):
                self.renamed(what, now)
            d.catalog = catalog
            if new.labels or new.expressions:
                self._relabel(OTHER_EXPRESSION if new.expressions else MORE_LABELS)
            else:
                deployments.save(self.path, d)
        return new.left

    def _relabel(self, why: str) -> None:
        """Views over the catalog as it is by now; those are set aside that are others with it."""
        was = {p.view: p for e in self.used_engines() for p in self.plans(e)}
        compiled = self._compiled()
        kept, read = others(was, {v.name: v.plan for v in compiled})
        at = max((self.engine(e).frontier() for e in self.used_engines()), default=0)
        if read:
            (self.path / UNFINISHED).touch()  # should this be killed before they read their states otherwise
        self._set_aside(kept, f"{why}, noticed at {format_lsn(at)}.")
        self._take(compiled)
        self.finish_deploy()

    def keep_notes(self) -> None:
        """Keep what a look at the source's catalog noted of the tables."""
        with self.lock:
            if self.deployment.catalog is not self.noted:
                self.noted = self.deployment.catalog
                deployments.save(self.path, self.deployment)

    def _refuse(self, engine: str, e: ValueOutOfRange | TableChanged) -> bool:
        """Whether anything was kept of it until now."""
        if e.table is None:
            raise e
        table = qualified(e.table)
        with self.lock:
            refused = self.refused(engine).get(table, {})
            new = [c for c in parts(e) if c not in refused]
            if not new or ALL in refused or table not in self.deployment.tables.get(engine, []):
                return False
            why = e.detail
            if isinstance(e, TableChanged):
                why = f"{e.message}: {e.detail.rstrip('.')}, noticed at {format_lsn(self.engine(engine).frontier())}."
            self.deployment.refused.setdefault(engine, {}).setdefault(table, {}).update(dict.fromkeys(new, why))
            hit = [p.view for p in self.plans(engine) if any(reads(p, table, c) for c in new)]
            self._set_aside(hit, why if isinstance(e, TableChanged) else f"{e.message}: {e.detail}")
            return True

    def used_engines(self) -> list[str]:
        return [e for e in KINDS if self.deployment.tables.get(e) is not None]

    def plans(self, engine: str) -> list[ViewPlan]:
        """Plans of the views that are maintained."""
        aside = {v.name for v in self.deployment.views if v.error}
        return [
            v.plan for v in self.compiled.values() if v.engine == engine and v.plan is not None and v.name not in aside
        ]

    def programs(self, engine: str) -> Programs:
        """The programs of an engine's batches, for the views that are maintained."""
        return self.maintaining.batches(self.engine(engine), self.plans(engine))

    def upqueries(self, engine: str, view: str, leaving: bool = False) -> Programs:
        """The programs that fill the keys of a partial view that arrive, or dismiss those that are `leaving`."""
        return self.maintaining.upqueries(self.engine(engine), self.view(view)[1], leaving)

    def cohorts(self, engine: str) -> list[Cohort]:
        """The paced views that are maintained, by what they share."""
        return cohorts(self.plans(engine))

    def cohort(self, view: str) -> Cohort:
        """A paced view that is maintained, and those that it shares states with."""
        v, plan = self.view(view)
        return next((c for c in self.cohorts(v.engine) if view in c.views), Cohort((plan,)))

    def taking(self, view: str, state: str, sources: Iterable[str]) -> Taking:
        """How a state of a paced view takes what waits of some of its inputs."""
        return self.maintaining.taking(self.engine(self.view(view)[0].engine), self.cohort(view), state, sources)

    def fold(self, engine: str) -> None:
        """Let states take what waits in their tails, where the engine can between batches."""
        self.maintaining.fold(self.engine(engine), self.plans(engine))

    def view(self, name: str) -> tuple[DeployedView, ViewPlan]:
        for v in self.deployment.views:
            if v.name == name:
                plan = self.compiled[name].plan
                assert plan is not None
                return v, plan
        import difflib

        near = difflib.get_close_matches(name, [v.name for v in self.deployment.views], 1)
        raise TidemarkError(
            f'view "{name}" is not deployed',
            code="undefined_view",
            hint=f'Perhaps you meant "{near[0]}".' if near else "tidemark status lists the views.",
        )

    def frontier(self, engine: str) -> int:
        """The engine's frontier, once it has finished what an earlier run left half done."""
        while True:
            try:
                return self.engine(engine).frontier()
            except EngineFailure as e:
                self.set_aside(engine, e)

    def set_aside(self, engine: str, failure: EngineFailure) -> None:
        """Stop maintaining the views that need the state that failed, so that the others go on.

        Raises the failure itself when no view needs that state.
        """
        with self.lock:
            hit = [p.view for p in self.plans(engine) if any(s.name == failure.state for s in p.states)]
            if not hit:
                raise failure
            self._set_aside(hit, f"{failure.message}: {failure.detail}")

    def _set_aside(self, hit: list[str], why: str) -> None:
        gone = {e: {s.name for p in self.plans(e) if p.view in hit for s in p.states} for e in self.used_engines()}
        on = {v.name: v.engine for v in self.deployment.views}
        for v in self.deployment.views:
            if v.name in hit:
                v.error = why
        deployments.save(self.path, self.deployment)
        for e, names in gone.items():
            if names:
                self.engine(e).set_aside(names - {s.name for p in self.plans(e) for s in p.states})
        for name in hit:
            self.engine(on[name]).drop_view(name)
            self.aside(name, why)

    def settle(self) -> None:
        """Bring what engines keep for good up to their frontiers, so that the deployment may speak of it."""
        for e in self.used_engines():
            self.engine(e).settle(force=True)

    def check_states(self) -> None:
        """Set views aside of which something is not kept: another version deployed them, or a deploy was killed. Raises
        where nothing is."""
        for e in self.used_engines():
            there = self.engine(e).states()
            if not there and any(p.states for p in self.plans(e)):
                raise TidemarkError(
                    "the warehouse does not have the states that its views need",
                    code="not_deployed",
                    detail=f"There are none on {e}.",
                    hint="Run: tidemark deploy",
                )
            for p in self.plans(e):
                if missing := {s.name for s in p.states} - there:
                    why = f'"{min(missing)}" is missing: it was deployed by another version, or a deploy was killed.'
                    with self.lock:
                        self._set_aside([p.view], why)

    def finish_deploy(self) -> None:
        """Of a deploy that was killed half way, views read states that nothing maintains: let them read their own
        again."""
        if (self.path / UNFINISHED).exists():
            for e in self.used_engines():
                for p in self.plans(e):
                    self.engine(e).create_view(p)
            (self.path / UNFINISHED).unlink()

    def forget(self, view: str) -> None:
        """Leave a view out of the deployment."""
        self.compiled.pop(view, None)
        self.deployment.views = [v for v in self.deployment.views if v.name != view]

    @staticmethod
    def set_aside_error(v: DeployedView) -> TidemarkError:
        return TidemarkError(
            f'view "{v.name}" is set aside',
            code="set_aside",
            detail=v.error,
            hint="Mend the view, or what it says of the data, then run: tidemark deploy",
        )

    def close(self) -> None:
        for e in self.engines.values():
            e.close()
        self.engines.clear()
