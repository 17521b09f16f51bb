"""A round: what the local file holds, to Delta. Each mirror that changed gets a file of its log, each view that may
have changed is replaced, and `frontier.json` then names the versions that belong together, and the LSN at which they
stand.

Until that file is replaced nothing of a round counts: the next one does the same again.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from compiler.catalog import Table
from compiler.maintain.kept import own
from compiler.maintain.plan import ViewPlan
from compiler.spelling import ident
from compiler.temporal import timed
from connectors.duckdb.engine import DuckDBEngine
from connectors.duckdb.statements import OF_A_STATE
from connectors.engine import EngineFailure
from connectors.failpoints import reach
from connectors.postgres.origin import RESYNC
from connectors.spark.local import outbox
from connectors.spark.local.delta import BASE, LOG, DeltaFolder
from connectors.spark.local.dist import Dist
from connectors.spark.local.outbox import Outbox
from connectors.spark.local.stored import copy, mirror_folder, to_delta, view_folder
from connectors.spark.published import Published, emptied

log = logging.getLogger("tidemark")
EVERY = 2.0  # seconds between rounds
SHARE = 3.0  # times as long as a round took, at least, until the next
LOG_FILES = 40  # of a mirror's log, before all of it is written anew
LOG_SHARE, LOG_ROWS = 0.3, 50_000  # of the mirror's rows, and at least so many


class Rounds:
    """Writes Delta tables under `root` from the engine's file."""

    def __init__(self, engine: DuckDBEngine, root: Path, dist: Dist) -> None:
        self.engine, self.root, self.dist = engine, root, dist
        self.published, self.outbox = Published(root), Outbox(engine.con)
        self.folders: dict[str, DeltaFolder] = {}
        self.logged: dict[str, int] = {}  # mirror → rows of its log
        self.queries: dict[str, str] = {}  # view → how its rows are written
        self.unreadable: set[str] = set()  # views that failed when they were read last
        self.finished: dict[str, float] = {}  # view that may lag → when it had been finished, as it is in Delta
        self.cost, self.ended = 0.0, 0.0
        self.looked = False
        self.done = True  # whether the last round came to its end: else it may have been published, and not noted
        self.waiting = True  # whether there may be something that is not in Delta
        self.kept = self._agree()

    def _agree(self) -> int:
        """Where `frontier.json` stands; what is noted begins there, or everything is to be written."""
        pin, since = self.published.pin(), self.outbox.since or 0
        if pin.versions is None or not since <= pin.lsn <= self.engine.frontier():
            self.published.withdraw(list(pin.versions or ()))
        else:
            with self.outbox.forgetting(pin.lsn):  # a crash, or a failure, came between the file and this
                pass
        return pin.lsn

    def forget(self, *names: str) -> None:
        """Tables whose content is another from now on: nobody begins to read them, or fills a local file from them."""
        self.published.withdraw(names)
        self.waiting = True

    def remove(self, name: str) -> None:
        """A table that is no more."""
        self.published.withdraw([name])
        self._folder(name).remove()
        self.folders.pop(name, None)

    def due(self) -> bool:
        return self.waiting and time.monotonic() >= self.ended + max(EVERY, SHARE * self.cost)

    def run(self, tables: Iterable[Table], plans: Iterable[ViewPlan]) -> None:
        """Bring Delta to the frontier. Raises EngineFailure; then it stands where it stood."""
        begun = time.monotonic()
        try:
            if not self.done:
                self.kept = self._agree()
            self.done = False
            self._run(list(tables), {p.view: p for p in plans})
            self.done = True
        except (duckdb.Error, OSError) as e:
            raise EngineFailure(
                "writing to Delta failed",
                detail=str(e).split("\n")[0],
                hint="Nothing is lost: the local file has it, and the source is not told yet. Is the disk full?",
            ) from e
        finally:
            self.ended = time.monotonic()
            self.cost = self.ended - begun
            if not self.done:
                self.folders.clear()  # what they know of their tables may be too little
                self.looked = False

    def _run(self, tables: list[Table], plans: dict[str, ViewPlan]) -> None:
        lsn, last = self.engine.frontier(), self.engine.last_commit()
        if not self.looked:
            self._look()
        versions, whole = self.published.pin().versions or {}, self.outbox.unwritten()
        written, moved = [], set()
        bases: dict[str, list[Path]] = {}  # of mirrors that are Dist, and are written as a whole
        for t in tables:
            name = mirror_folder(t.mirror)
            noted = self.outbox.rows(t)
            if t.mirror in self.dist.mirrors:
                if name in whole or self._folder(name).version is None or (noted and self._outgrown(t)):
                    bases[t.mirror] = [self._file(name, outbox.whole(t, lsn))]
                    self._folder(name).replace(bases[t.mirror], lsn)
                elif noted and len(self._folder(name).log()) >= LOG_FILES:
                    self._folder(name).renew_log(self._file(name, outbox.tail(t, lsn, all_of_it=True), LOG), lsn)
                elif noted:
                    self._folder(name).append(self._file(name, outbox.tail(t, lsn), LOG), lsn)
                elif self._goes_on(name, versions):
                    continue
            elif name in whole or not self._goes_on(name, versions) or self._long(t, noted):
                self._replace(name, outbox.whole(t, lsn), lsn, anew=name not in versions)
                self.logged[t.mirror] = 0
            elif noted:
                self._folder(name).append(self._file(name, outbox.changed(t, lsn), LOG), lsn)
                self.logged[t.mirror] = self.logged.get(t.mirror, 0) + noted
            else:
                continue
            written.append(name)
            moved.add(f"{t.schema}.{t.name}")
        there = {r[0] for r in self.engine.con.execute("SELECT view_name FROM duckdb_views()").fetchall()}
        reached, finished = self.engine.paced.reached(), self.engine.paced.finished()
        for view, plan in plans.items():
            name = view_folder(view)
            private = plan.asked is not None or bool(timed(plan.top))  # what readers see is not a table
            if private and name in versions:  # a view of that name was another
                self.remove(name)
            if plan.lag is None:
                at, changed = lsn, bool(plan.tables & moved)
            else:  # what readers see of it is changed by what finishes it
                at = min((reached[s.name].lsn for s in own(plan.states) if s.name in reached), default=lsn)
                changed = self.finished.get(view) != finished.get(view, 0.0)
            stays = name in versions and name not in whole and not changed
            if stays or view not in there or private:
                continue
            if self._view(name, view, at, anew=name not in versions):
                written.append(name)
        self.published.publish(written, lsn, last)
        reach("local.frontier")
        self.kept, self.waiting, self.finished = lsn, False, {v: finished.get(v, 0.0) for v in plans}
        with self.outbox.forgetting(lsn, written=True):
            for mirror, files in bases.items():
                self.dist.rebase(mirror, files, clear=True)
        reach("local.cleared")
        for f in self.folders.values():
            f.sweep()

    def _look(self) -> None:
        """Once a process, and after a round that failed: tables that are not as they were left are written anew."""
        for name, version in (self.published.pin().versions or {}).items():
            folder, away = self._folder(name), name in self._away()
            behind = folder.version is None or folder.version < version
            if folder.damaged() or emptied(self.root / name, version):
                if away:
                    raise EngineFailure(f"the Delta table {name} has lost files", hint=RESYNC)
                log.warning("the Delta table %s has lost files: it is written anew", name)
                self.published.withdraw([name])
            elif behind:
                log.warning("the Delta table %s has lost its last commits: it is written anew", name)
                if away:  # the local file knows the base that is there, and what came after it
                    self.outbox.write_whole([name])
                self.published.withdraw([name])
        self._adopt()
        self.looked = True

    def _adopt(self) -> None:
        """Bases that were written anew before a crash, and not yet taken, published or not: the tails have all that
        came after the old ones, which nobody keeps."""
        whole = self.outbox.unwritten()
        for mirror in self.dist.mirrors:
            name = mirror_folder(mirror)
            files = self._folder(name).base()
            if name not in whole and files and sorted(files) != self.dist.files(mirror):
                self.dist.adopt(mirror, files)

    def new_file(self, t: Table) -> Callable[[], Path]:
        return self._folder(mirror_folder(t.mirror)).new_file

    def put(self, t: Table, files: list[Path]) -> None:
        """The first base of a mirror that is Dist."""
        folder = self._folder(mirror_folder(t.mirror))
        if files:
            folder.replace(files, 0)
        self.dist.rebase(t.mirror, files, clear=True)

    def _goes_on(self, name: str, versions: dict[str, int]) -> bool:
        """Whether the table is as the last round left it, so that a log can be appended."""
        return name in versions and self._folder(name).version == versions[name]  # None where it had to be removed

    def _away(self) -> set[str]:
        return {mirror_folder(m) for m in self.dist.mirrors}

    def _outgrown(self, t: Table) -> bool:
        """Whether the tail of a mirror has become so long that the base is written anew."""
        rows = self.dist.tail_rows(t.mirror)
        return rows > LOG_ROWS and rows > LOG_SHARE * self.engine.mirrors.estimates.get(t.mirror, rows)

    def _long(self, t: Table, noted: int) -> bool:
        """Whether a log has become so long that the mirror is written anew instead."""
        rows = self.logged.get(t.mirror, 0) + noted
        if not noted:
            return False
        if len(self._folder(mirror_folder(t.mirror)).files()) > LOG_FILES:
            return True
        return rows > LOG_ROWS and rows > LOG_SHARE * self.engine.mirrors.estimates.get(t.mirror, 0)

    def _view(self, name: str, view: str, lsn: int, anew: bool) -> bool:
        """Whether it could be written: one that cannot be read now is withdrawn until it can."""
        try:
            if view not in self.queries:
                self.queries[view] = to_delta(self.engine.con, f"SELECT * FROM main.{ident(view).sql('duckdb')}")
            self._replace(name, self.queries[view], lsn, anew)
        except OF_A_STATE as e:
            if view not in self.unreadable:
                log.warning('view "%s" cannot be read, nor published: %s', view, str(e).split("\n")[0])
            self.unreadable.add(view)
            self.queries.pop(view, None)
            self.remove(name)
            return False
        self.unreadable.discard(view)
        return True

    def _replace(self, name: str, query: str, lsn: int, anew: bool) -> None:
        folder = self._folder(name)
        if anew:
            folder.remove()
        file = self._file(name, query)
        if not folder.fits(file):  # other columns: the versions before are another table's
            content = file.rename(self.root / file.name)
            self.published.withdraw([name])
            folder.remove()
            file = content.rename(folder.new_file())
        folder.replace([file], lsn)

    def _file(self, name: str, query: str, kind: str = BASE) -> Path:
        file = self._folder(name).new_file(kind)
        if name.startswith("mirror/"):
            query = to_delta(self.engine.con, query)
        self.engine.con.execute(copy(self.engine.con, query, file))
        return file

    def _folder(self, name: str) -> DeltaFolder:
        if name not in self.folders:
            try:
                self.folders[name] = DeltaFolder(self.root / name)
            except EngineFailure as e:
                if name in self._away():
                    raise
                log.warning("%s: %s (it is written anew)", e.message, e.detail)
                self.published.withdraw([name])
                shutil.rmtree(self.root / name)
                self.folders[name] = DeltaFolder(self.root / name)
        return self.folders[name]
