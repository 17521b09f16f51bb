"""Files that states have beside the local file: one each, which counts once the file's commit names it."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from compiler.errors import TidemarkError
from connectors.duckdb import frontier
from connectors.spark import durable
from connectors.spark.local.stored import copy, parquet, state_folder, to_delta

SETUP = (
    "CREATE TABLE IF NOT EXISTS meta.state_base (state VARCHAR, file VARCHAR)",
    "CREATE TABLE IF NOT EXISTS meta.state_replaced (file VARCHAR, since DOUBLE)",
    "CREATE TABLE IF NOT EXISTS meta.state_root (root VARCHAR)",
)
GRACE = 600.0  # seconds that a file stays after it was replaced: who reads the state then may need it
EVERY = 60.0  # seconds between looks for files that nobody needs


class Bases:
    """What the local file says of them is changed in the caller's transaction."""

    def __init__(self, con: duckdb.DuckDBPyConnection, root: Path) -> None:
        self.con, self.root = con, root
        for s in SETUP:
            con.execute(s)
        self.counted: dict[str, int] = {}  # state → rows of its base
        self.swept = -EVERY

    def settle(self) -> None:
        """Views that are made from now on name files in this folder."""
        if self.con.execute("SELECT root FROM meta.state_root").fetchall() != [(str(self.root),)]:
            self.con.execute("DELETE FROM meta.state_root")
            self.con.execute("INSERT INTO meta.state_root VALUES (?)", [str(self.root)])

    def states(self) -> set[str]:
        return {r[0] for r in self.con.execute("SELECT DISTINCT state FROM meta.state_base").fetchall()}

    def files(self, state: str) -> list[Path]:
        return base_files(self.con, self.root, state)

    def damaged(self, state: str) -> bool:
        return any(map(_damaged, self.files(state)))

    def rows(self, state: str) -> int:
        if state not in self.counted:
            found = self.con.execute(f"SELECT count(*) FROM {parquet(self.files(state))}").fetchall()
            self.counted[state] = int(found[0][0])
        return self.counted[state]

    def write(self, state: str, query: str) -> Path:
        """A new file with these rows, on the disk."""
        file = self.root / state_folder(state) / f"base-{uuid.uuid4().hex}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.con.execute(copy(self.con, to_delta(self.con, query), file))
            for path in (file, file.parent, file.parent.parent):
                durable.sync(path)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        return file

    def become(self, state: str, file: Path) -> None:
        """The file is the state's base, in the place of the one before."""
        frontier.has(self.con, frontier.AWAY)
        self.let_go(state)
        self.con.execute("INSERT INTO meta.state_base VALUES (?, ?)", [state, str(file.relative_to(self.root))])

    def let_go(self, state: str) -> None:
        """The state has none any more."""
        self.counted.pop(state, None)
        self.con.execute(
            "INSERT INTO meta.state_replaced SELECT file, ? FROM meta.state_base WHERE state = ?", [time.time(), state]
        )
        self.con.execute("DELETE FROM meta.state_base WHERE state = ?", [state])

    def sweep(self) -> None:
        """Now and then: delete files that were replaced long enough ago, and those of transactions that failed."""
        if time.monotonic() < self.swept + EVERY:
            return
        self.swept, since = time.monotonic(), time.time() - GRACE
        replaced = dict(self.con.execute("SELECT file, max(since) FROM meta.state_replaced GROUP BY 1").fetchall())
        kept = {r[0] for r in self.con.execute("SELECT file FROM meta.state_base").fetchall()}
        for f in (self.root / "state").glob("*/base-*.parquet"):
            name = str(f.relative_to(self.root))
            if name not in kept and replaced.get(name, _written(f)) < since:
                f.unlink(missing_ok=True)
        self.con.execute("DELETE FROM meta.state_replaced WHERE since < ?", [since])


def base_files(con: duckdb.DuckDBPyConnection, root: Path, state: str) -> list[Path]:
    """Of a state that is Dist; none of others."""
    there = "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'state_base'"
    if not con.execute(there).fetchall():
        return []  # a file that an older version made, and nobody wrote to since
    found = con.execute("SELECT file FROM meta.state_base WHERE state = ? ORDER BY 1", [state]).fetchall()
    return [root / f[0] for f in found]


def check_root(con: duckdb.DuckDBPyConnection, root: Path) -> None:
    """For who only reads: raises TidemarkError where views name files in a folder that was moved since."""
    there = "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'state_root'"
    if not con.execute(there).fetchall() or not con.execute("SELECT 1 FROM meta.state_base").fetchall():
        return
    found = [r[0] for r in con.execute("SELECT root FROM meta.state_root").fetchall()]
    if found != [str(root)]:
        raise TidemarkError(
            f"the warehouse was moved to {root}",
            code="moved_warehouse",
            detail=f"What reads large states looks for files in {', '.join(found)}.",
            hint="Run: tidemark run --once",
        )


def _written(f: Path) -> float:
    """When a file was written last; now, where it is gone."""
    try:
        return f.stat().st_mtime
    except OSError:
        return time.time()


def _damaged(f: Path) -> bool:
    """Whether a file is gone, or has no end."""
    try:
        pq.read_metadata(f)
        return False
    except (OSError, pa.ArrowException):
        return True
