"""verify: each view against the source's own answer, both at one LSN, both ways."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
from psycopg import sql
from sqlglot import exp

from compiler.bind.query import Binder
from compiler.catalog import Column, Table
from compiler.ir.types import Type
from compiler.state import ViewPlan
from connectors.duckdb.session import scratch
from connectors.duckdb.text import from_text
from connectors.engine import EngineFailure
from connectors.postgres.connection import connect
from connectors.postgres.snapshot import ExportedSnapshot, copy_query
from connectors.typed import ValueOutOfRange, typed
from pipelines import deployment as store
from pipelines.capture import Capture, current_lsn
from pipelines.config import Config
from pipelines.deployment import DeployedView
from pipelines.run import limits
from pipelines.unaltered import check_source
from pipelines.warehouse import Warehouse

TRIES = 5  # with tables that are truncated or rewritten while they are compared


@dataclass
class Verified:
    """A view's comparison: how many rows the source has, and how many are missing or too many in the warehouse."""

    view: str
    rows: int
    missing: int
    extra: int
    example: str = ""
    error: str = ""
    unreadable: bool = False  # in the warehouse: what a repair mends

    @property
    def equal(self) -> bool:
        return not self.missing and not self.extra and not self.error

    def line(self) -> str:
        if self.error:
            return f"{self.view}: could not be compared: {self.error}"
        if self.equal:
            return f"{self.view}: equal, {self.rows} rows"
        return f"{self.view}: DIFFERS, {self.missing} rows missing, {self.extra} too many; {self.example}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def verify(config: Config, views: list[str], repair: bool = False) -> list[Verified]:
    """Through the running pipeline when there is one, which stops at the snapshot's LSN for it; otherwise by itself."""
    from pipelines.client import connect_running

    running = connect_running(config.warehouse_path)
    if running is not None:
        with running:
            return [Verified(**r) for r in running.verify(views, repair)]
    with store.locked(config.warehouse_path):
        warehouse = Warehouse(config, store.require(config.warehouse_path))
        try:
            check_source(config.source.dsn, warehouse.deployment)
            warehouse.finish_deploy()
            capture = Capture(warehouse, limits(config))
            try:
                return verify_with(config, warehouse, capture, views, repair)
            finally:
                capture.close()
        finally:
            warehouse.close()


def verify_with(config: Config, warehouse: Warehouse, capture: Capture, views: list[str], repair: bool) -> list[Verified]:
    chosen = [warehouse.view(n)[0] for n in views] if views else warehouse.deployment.views
    done: dict[str, Verified] = {}
    left = list(chosen)
    for _ in range(TRIES):
        left = _verify_at_once(config, warehouse, capture, left, repair, done)
        if not left:
            break
    for v in left:
        done[v.name] = Verified(v.name, 0, 0, 0, error="a table it reads was truncated or rewritten each time it was compared")
    return [done[v.name] for v in chosen]


def _verify_at_once(config: Config, warehouse: Warehouse, capture: Capture, views: list[DeployedView], repair: bool,
                    done: dict[str, Verified]) -> list[DeployedView]:
    """Compare views in one snapshot; gives those that differ and read a table which was truncated or rewritten meanwhile."""
    tables = {v.name: _tables(warehouse, v) for v in views}
    snapshot = ExportedSnapshot(config.source.dsn, f"tidemark_{uuid.uuid4().hex[:10]}", set().union(*tables.values()), temporary=True)
    again = []
    try:
        capture.catch_up(max(snapshot.lsn, current_lsn(config.source.dsn)), before=snapshot.lsn)
        for v in views:
            result = done[v.name] = _compare(config, warehouse, v, snapshot.snapshot)
            if result.equal or result.error and not result.unreadable:
                continue
            if not result.error and snapshot.rewritten() & tables[v.name]:
                again.append(v)
            elif repair:
                _fill_again(warehouse, v)
                done[v.name] = _compare(config, warehouse, v, snapshot.snapshot)
        return again
    finally:
        snapshot.close()


def _tables(warehouse: Warehouse, v: DeployedView) -> set[str]:
    read = warehouse.view(v.name)[1].tables
    return {t.quoted for t in warehouse.deployment.catalog if f"{t.schema}.{t.name}" in read}


def _fill_again(warehouse: Warehouse, v: DeployedView) -> None:
    _, plan = warehouse.view(v.name)
    engine = warehouse.engine(v.engine)
    for s in plan.states:
        engine.drop_state(s.name)
    for s in plan.states:
        engine.create_state(s)
    engine.create_view(plan)


def _compare(config: Config, warehouse: Warehouse, v: DeployedView, snapshot: str) -> Verified:
    _, plan = warehouse.view(v.name)
    if v.error:
        return Verified(v.name, 0, 0, 0, error=f"set aside: {v.error}")
    try:
        with connect(config.source.dsn, autocommit=False) as conn:
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            conn.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)))
            body = _inlined(warehouse, v)
            now = conn.execute("SELECT now()::text").fetchone()
            chunks = list(copy_query(conn, sql.SQL(body), len(plan.outputs)))
    except psycopg.Error as e:
        return Verified(v.name, 0, 0, 0, error=str(e).split("\n")[0])
    except pa.ArrowInvalid as e:  # not the columns that the plan has
        return Verified(v.name, 0, 0, 0, error=f"cannot be compared: {str(e).splitlines()[0]}")
    try:
        ours = warehouse.engine(v.engine).read(plan, now[0] if now else None)
    except EngineFailure as e:
        return Verified(v.name, 0, 0, 0, error=f"{e.message}: {e.detail}", unreadable=True)
    try:
        return difference(v.name, plan, chunks, ours)
    except (duckdb.Error, pa.ArrowInvalid) as e:
        return Verified(v.name, 0, 0, 0, error=f"cannot be compared: {str(e).splitlines()[0]}")
    except ValueOutOfRange as e:
        return Verified(v.name, 0, 0, 0, error=f"cannot be compared: {e.detail}")


def _inlined(warehouse: Warehouse, v: DeployedView) -> str:
    """The view's SELECT, with the other views it reads as CTEs."""
    texts = {n: c.text for n, c in warehouse.compiled.items() if c.text is not None}
    if not any(t.name in texts for t in texts[v.name].query.find_all(exp.Table)):
        return texts[v.name].sql
    catalog = warehouse.deployment.to_catalog()
    order: list[str] = []

    def visit(n: str) -> None:
        b = Binder(catalog, {m: t.query for m, t in texts.items() if m != n}, (n,))
        b.view(texts[n].query.copy())
        for m in sorted(b.reads_views):
            visit(m)
        if n not in order:
            order.append(n)

    visit(v.name)
    *read, _ = order
    if not read:
        return texts[v.name].sql
    ctes = ",\n".join(f'"{n}" AS (\n{texts[n].sql}\n)' for n in read)
    return f"WITH {ctes} SELECT * FROM (\n{texts[v.name].sql}\n) AS whole"


def difference(view: str, plan: ViewPlan, chunks: list[pa.Table], ours: pa.Table) -> Verified:
    """Both ways by EXCEPT ALL; numbers that are not exact on both sides are compared to 12 digits."""
    con = scratch()
    types = [c.type for _, c in plan.outputs]
    names = [f"c{i}" for i in range(len(types))]
    empty = pa.table({n: pa.array([], type=pa.large_string()) for n in names})
    shape = Table("", "", tuple(Column(n, t) for n, t in zip(names, types, strict=True)))
    con.register("source_text", typed(pa.concat_tables(chunks) if chunks else empty, shape))
    con.register("ours_raw", ours.rename_columns(names))
    theirs = ", ".join(f"{_comparable(from_text(n, _loose(t)), t)} AS {n}" for n, t in zip(names, types, strict=True))
    mine = ", ".join(f"{_comparable(n, t)} AS {n}" for n, t in zip(names, types, strict=True))
    if not names:
        theirs = mine = "1 AS one"
    con.execute(f"CREATE TEMP TABLE theirs AS SELECT {theirs} FROM source_text")
    con.execute(f"CREATE TEMP TABLE mine AS SELECT {mine} FROM ours_raw")
    rows = con.execute("SELECT count(*) FROM theirs").fetchone()
    missing = con.execute("SELECT * FROM theirs EXCEPT ALL SELECT * FROM mine").to_arrow_table().to_pylist()
    extra = con.execute("SELECT * FROM mine EXCEPT ALL SELECT * FROM theirs").to_arrow_table().to_pylist()
    missing, extra = _close(missing, extra)
    example = f"missing {missing[0]}" if missing else f"extra {extra[0]}" if extra else ""
    return Verified(view, rows[0] if rows else 0, len(missing), len(extra), example[:300])


def _loose(t: Type) -> Type:
    return Type("float8") if t.name == "numeric" and (t.scale or 0) > 12 else t


def _comparable(e: str, t: Type) -> str:
    if t.name in ("bpchar", "blanks"):
        return f"rtrim({e}, ' ')"
    if t.name == "array" and t.element is not None and t.element.name in ("bpchar", "blanks"):
        return f"list_transform({e}, x -> rtrim(x, ' '))"
    if t.name in ("float4", "float8") or (t.name == "numeric" and (t.scale or 0) > 12):
        return f"CAST({e} AS DOUBLE)"
    if t.name == "interval":  # of equal ones in several forms, which is shown is open
        days = f"datepart('year', {e}) * 360 + datepart('month', {e}) * 30 + datepart('day', {e})"
        clock = f"datepart('hour', {e}) * 3600000000 + datepart('minute', {e}) * 60000000 + datepart('us', {e})"
        return f"CAST({days} AS HUGEINT) * 86400000000 + {clock}"
    if t.name == "numeric":
        return f"CAST({e} AS DECIMAL(38,{t.scale}))"
    return e


def _close(missing: list[dict[str, Any]], extra: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Pair off rows that differ only in the last digits of floating point numbers."""
    import math

    if not missing or not extra:
        return missing, extra

    def near(x: Any, y: Any) -> bool:
        if isinstance(x, float) and isinstance(y, float):
            return x == y or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(x) and math.isnan(y))
        if isinstance(x, list) and isinstance(y, list):
            return len(x) == len(y) and all(map(near, x, y))
        return bool(x == y)

    def exact(r: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(repr(v) for v in r.values() if not isinstance(v, float | list))

    pool: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for r in extra:
        pool.setdefault(exact(r), []).append(r)
    left = []
    for r in missing:
        candidates = pool.get(exact(r), [])
        hit = next((c for c in candidates if near([*r.values()], [*c.values()])), None)
        if hit is None:
            left.append(r)
        else:
            candidates.remove(hit)
    return left, [r for rs in pool.values() for r in rs]
