"""Deploy random views, change the tables, and compare every view with Postgres' own answer after every batch."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import json
import math
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import duckdb
import psycopg
from psycopg.conninfo import make_conninfo

SLOW = "SET statement_timeout = '2s'; SET timezone = 'UTC'"
PLANS = (
    "SET enable_hashjoin = off; SET enable_hashagg = off; SET enable_nestloop = off",
    "SET enable_sort = off; SET enable_mergejoin = off; SET enable_indexscan = off",
)


class Symptom(Enum):
    CRASH = "crash"  # of the compiler
    DEPLOY = "deploy"
    RUN = "run"
    EXPORT = "export"
    WRONG = "WRONG"  # an answer


@dataclass(frozen=True)
class Failure:
    """What went wrong with a view, and after which step (0 is the load)."""

    view: str
    step: int
    symptom: Symptom
    why: str


@dataclass
class Outcome:
    """Of one project: what deploy said of each view, and the failures."""

    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


def plain(v: object) -> object:
    """A value both sides can be compared by: numbers as float, times as naive UTC text, the rest as text."""
    match v:
        case None | bool():
            return v
        case str():
            return v.rstrip(" ")
        case int() | float() | decimal.Decimal():
            return float(v)
        case dt.datetime():
            return (v.astimezone(dt.UTC).replace(tzinfo=None) if v.tzinfo else v).isoformat(" ", "microseconds")
        case dt.date():
            return dt.datetime(v.year, v.month, v.day).isoformat(" ", "microseconds")
        case dt.timedelta():
            return v.total_seconds()
        case list() | tuple():
            return tuple(map(plain, v))
        case dict():
            return json.dumps(v, sort_keys=True)
    return str(v)


def coarse(v: object) -> tuple[int, str]:
    """A sort key that numbers equal up to rounding nearly always share."""
    if isinstance(v, float):
        return (1, "nan") if math.isnan(v) else (1, f"{v:.5e}" if abs(v) > 1e-9 else "0")
    if isinstance(v, tuple):
        return (3, repr([coarse(x) for x in v]))
    return (0, "") if v is None else (2, str(v))


def close(a: object, b: object) -> bool:
    """Equal, floats within 1e-9."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(close, a, b))
    return a is b if isinstance(a, bool) or isinstance(b, bool) else a == b


def differ(want: list[tuple[Any, ...]], got: list[tuple[Any, ...]]) -> str | None:
    """None when the bags are equal, else the first difference in words."""
    w, g = (sorted((tuple(map(plain, r)) for r in rows), key=lambda r: [coarse(x) for x in r]) for rows in (want, got))
    if len(w) == len(g) and all(len(a) == len(b) and all(map(close, a, b)) for a, b in zip(w, g, strict=True)):
        return None
    cw, cg = (collections.Counter(tuple(map(coarse, r)) for r in x) for x in (w, g))
    missing = [r for r in w if cw[tuple(map(coarse, r))] > cg[tuple(map(coarse, r))]][:2]
    extra = [r for r in g if cg[tuple(map(coarse, r))] > cw[tuple(map(coarse, r))]][:2]
    return f"want {len(w)} rows, got {len(g)}; missing {missing}; extra {extra}"


def exported(path: Path) -> list[tuple[Any, ...]]:
    """The rows of an exported view."""
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    path = path / "*.parquet" if path.is_dir() else path
    described = con.execute(f"DESCRIBE SELECT * FROM read_parquet('{path}')").fetchall()
    pick = ", ".join(
        f"\"{c}\" AT TIME ZONE 'UTC'" if t == "TIMESTAMP WITH TIME ZONE" else f'"{c}"' for c, t, *_ in described
    )
    return con.execute(f"SELECT {pick} FROM read_parquet('{path}')").fetchall()


@contextmanager
def database(dsn: str, name: str, setup: list[str]) -> Iterator[str]:
    """A database of that name with the schema and load; dropped, with its slots, afterwards."""
    with psycopg.connect(dsn, autocommit=True) as c:
        c.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        c.execute(f"CREATE DATABASE {name}")
    own = make_conninfo(dsn, dbname=name)
    try:
        with psycopg.connect(own, autocommit=True) as c:
            for statement in setup:
                c.execute(statement)
        yield own
    finally:
        with psycopg.connect(dsn, autocommit=True) as c:
            c.execute(
                "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = %s AND active",
                (name,),
            )
            c.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", (name,)
            )
            c.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def answer(c: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]] | None:
    """Postgres' rows; None where it rejects the query, is slow, or its plans disagree, so that there is no one
    answer."""
    rows: list[tuple[Any, ...]] | None = None
    for plan in ("", *PLANS):
        try:
            with c.transaction(force_rollback=True):
                c.execute(plan.replace("SET", "SET LOCAL") or "SELECT 1")
                again = c.execute(sql).fetchall()
        except psycopg.Error:
            return None
        if len(again) > 4000 or rows is not None and differ(rows, again):
            return None
        rows = again
    return rows


def apply(dsn: str, batch: str) -> None:
    """Run a batch; a transaction that fails is rolled back, the others stay."""
    subprocess.run(["psql", "-X", "-q", dsn], input=batch, text=True, capture_output=True, check=False)


@dataclass
class Project:
    """A project directory with one file a view."""

    home: Path
    command: list[str]
    engine: str

    def tell(self, *args: str) -> subprocess.CompletedProcess[str]:
        patience = 280 if self.engine == "duckdb" else 3600
        return subprocess.run(
            [*self.command, *args], cwd=self.home, capture_output=True, text=True, check=False, timeout=patience
        )


def judge(
    dsn: str, views: dict[str, str], batches: list[str], command: list[str], engine: str, strategy: str
) -> Outcome:
    """Deploy the views against an own database, apply the batches, compare after each."""
    out, project = Outcome(), Project(Path(tempfile.mkdtemp(prefix="fuzz-")), command, engine)
    try:
        (project.home / "views").mkdir()
        (project.home / "tidemark.toml").write_text(
            f'[source]\ndsn = "{dsn}"\n\n[defaults]\nengine = "{engine}"\nstrategy = "{strategy}"\n\n'
            '[spark]\nlocal_memory = "none"\n'
        )
        for n, sql in views.items():
            (project.home / "views" / f"{n}.sql").write_text(f"CREATE MATERIALIZED VIEW {n} AS\n{sql};\n")
        _follow(project, dsn, views, batches, out)
    finally:
        project.tell("teardown", "--yes")
        shutil.rmtree(project.home, ignore_errors=True)
    return out


def screen(dsn: str, views: dict[str, str], engine: str, strategy: str) -> dict[str, dict[str, Any]]:
    """Compile each view alone, in an own interpreter: the traceback if it crashes, and the names its statements go
    by."""
    root = Path(__file__).resolve().parents[2]
    p = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.runner", dsn, engine, strategy],
        input=json.dumps(views),
        cwd=root,
        text=True,
        capture_output=True,
        check=False,
    )
    return dict(json.loads(p.stdout)) if p.returncode == 0 else {n: {"crash": p.stderr[-800:]} for n in views}


def _screen(dsn: str, views: dict[str, str], engine: str, strategy: str) -> dict[str, dict[str, Any]]:
    from compiler.errors import TidemarkError
    from compiler.maintain.differentiate import program
    from compiler.parse import parse_view
    from compiler.view import compile_view
    from connectors.postgres.catalog import load_catalog
    from dialects import maintain
    from dialects.duckdb import DUCKDB
    from dialects.spark import SPARK

    dialect = DUCKDB if engine == "duckdb" else SPARK
    with psycopg.connect(dsn) as c:
        catalog = load_catalog(c)
    out: dict[str, dict[str, Any]] = {}
    for n, sql in views.items():
        try:
            query = parse_view(f"CREATE MATERIALIZED VIEW {n} AS {sql}").query
            plan = compile_view(n, query, catalog, {}, strategy)
            maintain.read_select(dialect, plan.top, plan.outputs)
            done = maintain.statements(dialect, program([plan], frozenset(plan.tables)))
            out[n] = {"targets": [x for s in done for x in (s.target, s.state)] + [s.name for s in plan.states]}
            for s in plan.states:
                maintain.fill_select(dialect, s)
        except TidemarkError:
            out[n] = {}
        except Exception:
            lines = traceback.format_exc().strip().splitlines()
            out[n] = {"crash": "\n".join([lines[-1], *lines[-5:-1]])}
    return out


def _follow(project: Project, dsn: str, views: dict[str, str], batches: list[str], out: Outcome) -> None:
    p = project.tell("deploy", "--keep-going", "--json")
    try:
        out.told = {r["view"]: r for r in json.loads(p.stdout)["views"]}
    except (ValueError, KeyError):
        out.failures.append(Failure("", 0, Symptom.DEPLOY, (p.stderr or p.stdout)[-1500:]))
        return
    live = {n for n, r in out.told.items() if r["accepted"] and n in views}
    for step in range(len(batches) + 1):
        if step:
            apply(dsn, batches[step - 1])
            p = project.tell("run", "--once")
            if p.returncode:
                out.failures.append(Failure("", step, Symptom.RUN, (p.stderr or p.stdout)[-1500:]))
                return
        live -= _export(project, sorted(live), step, out)
        live -= _compare(project.home / "out", dsn, {n: views[n] for n in sorted(live)}, step, out)


def _export(project: Project, names: list[str], step: int, out: Outcome) -> set[str]:
    """Export all views at once; where that fails, without the first view that has no file, which is reported."""
    shutil.rmtree(project.home / "out", ignore_errors=True)
    gone: set[str] = set()
    while names and (p := project.tell("export", *names, "--to", "out")).returncode:
        written = [n for n in names if (project.home / "out" / f"{n}.parquet").exists()]
        guilty = next((n for n in names if n not in written or not _readable(project, n)), "")
        out.failures.append(
            Failure(guilty, step, Symptom.EXPORT, p.stderr.strip()[-500:] or f"export exits with {p.returncode}")
        )
        if not guilty:
            return gone
        gone.add(guilty)
        names = names[names.index(guilty) + 1 :]
    return gone


def _readable(project: Project, name: str) -> bool:
    try:
        exported(project.home / "out" / f"{name}.parquet")
    except duckdb.Error:
        return False
    return True


def _compare(folder: Path, dsn: str, views: dict[str, str], step: int, out: Outcome) -> set[str]:
    """Views to look at no longer: those that differ, and those for which Postgres itself has no answer now."""
    gone: set[str] = set()
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as c:
        c.execute(SLOW)
        for n, sql in views.items():
            if (want := answer(c, sql)) is None:
                gone.add(n)
                continue
            try:
                why = differ(want, exported(folder / f"{n}.parquet"))
                symptom = Symptom.WRONG
            except duckdb.Error as e:
                why, symptom = str(e), Symptom.EXPORT
            if why:
                gone.add(n)
                out.failures.append(Failure(n, step, symptom, why[:900]))
    return gone


if __name__ == "__main__":
    json.dump(_screen(sys.argv[1], json.load(sys.stdin), *sys.argv[2:4]), sys.stdout)
