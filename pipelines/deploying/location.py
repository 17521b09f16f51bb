"""Where what is on Spark is kept: with the driver (Local) where it is small, else with the executors (Dist).

Of tables that are too large together the largest are Dist, and their rows are fetched by keys; where the others, which
have no key, still are too large, everything is. It is decided when tables are copied, and stays until they all are
copied again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import psycopg

from compiler.catalog import Catalog, Table
from compiler.errors import TidemarkError, UnsupportedSql
from pipelines.asking.explain import statements
from pipelines.config import Config
from pipelines.deploying.by_key import tables_by_key
from pipelines.deployment import Deployment
from pipelines.fetches import few_rounds
from pipelines.kinds import DIST, EXECUTORS, LOCAL
from pipelines.project import Compiled

BYTES = (
    "SELECT n.nspname || '.' || c.relname, coalesce(sum(pg_table_size(p.relid)), 0)::bigint FROM pg_class c JOIN "
    "pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL (SELECT c.oid AS relid UNION SELECT relid FROM "
    "pg_partition_tree(c.oid) UNION SELECT inhrelid FROM pg_inherits WHERE inhparent = c.oid) p "
    "WHERE n.nspname || '.' || c.relname = ANY(%s) GROUP BY 1"
)
AGAIN = "tidemark deploy --resync copies all tables again, and keeps them where they have room."


@dataclass(frozen=True)
class Located:
    """LOCAL or DIST; where that is LOCAL, the tables whose mirrors are not."""

    where: str
    dist: tuple[str, ...] = ()


def locate(conn: psycopg.Connection, views: list[Compiled], config: Config, catalog: Catalog) -> Located:
    """For the views on Spark; the why goes into their notes."""
    mine = [v for v in views if v.engine == EXECUTORS.name and v.plan is not None and v.error is None]
    sizes, limit = sizes_of(conn, mine, catalog), config.spark.local_bytes
    some = tables_by_key(mine, catalog).get(EXECUTORS.name, {})
    sizes = {t: n for t, n in sizes.items() if t not in some}
    foreign = sorted(v.name for v in mine if unsayable(v) is not None)
    alone = _of_drivers(mine)
    dist = _dist(mine, sizes, limit, catalog)
    over = dist is not None and sum(n for t, n in sizes.items() if t not in dist) > limit
    fits = not config.spark.alone and dist is not None and not foreign
    if not fits:
        _check_drivers(mine)
    elif dist:
        dist = few_rounds(mine, dist, sizes, limit, catalog, views, config.defaults.strategy)
    for v in mine:
        assert v.plan is not None
        v.location = LOCAL if fits else DIST
        if foreign:
            why = f'the driver cannot run view "{foreign[0]}"'
        else:
            said = config.spark.local_memory if config.spark.alone else f"{limit:,}"
            why = f"the tables of views on Spark have {sum(sizes.values()):,} bytes, and local_memory is {said}"
            why += f', but only the driver can keep view "{alone[0]}"' if over and fits else ""
        v.notes.append(f"{'Local: kept by the driver' if fits else 'Dist: kept by the executors'}, since {why}")
        v.dist = tuple(sorted(v.plan.tables & set(dist or ()))) if fits else ()
        if v.dist:
            v.notes.append(f"Dist: the mirrors of {', '.join(v.dist)}; their rows are fetched by keys")
    return Located(LOCAL, tuple(dist or ())) if fits else Located(DIST)


def _of_drivers(views: list[Compiled]) -> list[str]:
    """The views that only the driver can keep."""
    return sorted(v.name for v in views if v.plan is not None and (v.plan.asked is not None or v.plan.lag is not None))


def _dist(views: list[Compiled], sizes: dict[str, int], limit: int, catalog: Catalog) -> list[str] | None:
    """The tables that are Dist before rounds are looked at; None where the executors keep everything. Where a view can
    be kept by the driver alone, there may be no room for tables without a key: all others are elsewhere then."""
    keyed = {t for t in sizes if _table(catalog, t).key}
    found = away(sizes, keyed, limit)
    return sorted(keyed) if found is None and _of_drivers(views) else found


def away(sizes: dict[str, int], keyed: AbstractSet[str], limit: int, before: int = 0) -> list[str] | None:
    """The largest tables, as many as leave no more than the limit beside `before` bytes, and all of them where it is 0;
    None where others are left that have no key to be found by."""
    out, left = [], before + sum(sizes.values())
    for t in sorted(keyed & sizes.keys(), key=lambda t: (-sizes[t], t)):
        if left > limit or not limit:
            out.append(t)
            left -= sizes[t]
    fits = left <= limit and (limit or keyed >= sizes.keys())
    return sorted(out) if fits or not sizes else None


def _table(catalog: Catalog, qualified: str) -> Table:
    return next(t for t in catalog.tables.values() if f"{t.schema}.{t.name}" == qualified)


def sizes_of(conn: psycopg.Connection, views: list[Compiled], catalog: Catalog) -> dict[str, int]:
    """Bytes of the tables in the source that views read, partitions included."""
    return bytes_of(conn, {t for v in views if v.plan is not None for t in v.plan.tables}, catalog)


def bytes_of(conn: psycopg.Connection, tables: AbstractSet[str], catalog: Catalog) -> dict[str, int]:
    """Bytes of these tables in the source, partitions included."""
    named = {".".join(t.now): f"{t.schema}.{t.name}" for t in catalog.tables.values()}
    wanted = sorted(now for now, name in named.items() if name in tables)
    return {named[str(t)]: int(n) for t, n in conn.execute(BYTES, (wanted,)).fetchall()}


def located(
    conn: psycopg.Connection,
    views: list[Compiled],
    catalog: Catalog,
    config: Config,
    old: Deployment,
    left: Mapping[str, AbstractSet[str]] | None = None,
) -> Located:
    """Where there is a deployment: tables stay where they are, and new ones go where there is room. Views of `left`
    stay as they are in `old`."""
    if EXECUTORS.name not in old.tables:
        return locate(conn, views, config, catalog)
    for v in views:
        v.location = old.location if v.engine == EXECUTORS.name else ""
    if old.location != LOCAL:
        _check_drivers([v for v in views if v.engine == EXECUTORS.name])
        return Located(DIST)
    _check(views)
    mine = [v for v in views if v.engine == EXECUTORS.name and v.plan is not None and v.error is None]
    some = tables_by_key(mine, catalog, old, left).get(EXECUTORS.name, {})
    sizes = {t: n for t, n in sizes_of(conn, mine, catalog).items() if t not in some}
    copies = {*old.tables[EXECUTORS.name]} - old.by_key.get(EXECUTORS.name, {}).keys()
    known, new = (
        {t: n for t, n in sizes.items() if (t in copies) is there and t not in old.dist} for there in (True, False)
    )
    keyed = {t for t in new if _table(catalog, t).key}
    more = away(new, keyed, config.spark.local_bytes, sum(known.values()))
    if more is None:  # there is no room in any case: what can be elsewhere is
        more = sorted(keyed)
    dist, room = {*(t for t in old.dist if t not in some), *more}, 2 * config.spark.local_bytes - sum(known.values())
    movable = {t: new[t] for t in more}
    out = tuple(few_rounds(mine, dist, movable, room, catalog, views, config.defaults.strategy))
    return Located(LOCAL, out)


def unsayable(v: Compiled) -> TidemarkError | None:
    """Why the driver's DuckDB cannot run a view; None where it can."""
    before, v.location = v.location, LOCAL
    try:
        statements(v, by_keys=False)
    except TidemarkError as e:
        return e
    finally:
        v.location = before
    return None


def _check(views: list[Compiled]) -> None:
    """Give views on Spark an error that a deployment which is Local cannot take."""
    for v in views:
        if v.engine != EXECUTORS.name or v.error is not None:
            continue
        if (e := unsayable(v)) is not None:
            v.error = UnsupportedSql(
                f'view "{v.name}" cannot be kept by the driver, as the other views on Spark are',
                detail=e.message,
                code="not_local",
                hint=AGAIN,
            )


def _check_drivers(views: list[Compiled]) -> None:
    """Give views on Spark an error that the driver alone can keep, where the executors would: partial ones, and those
    that may lag."""
    for v in views:
        if v.plan is None or v.error is not None:
            continue
        if v.plan.asked is not None:
            v.error = UnsupportedSql(
                f'view "{v.name}" is partial, and what is on Spark is kept by the executors',
                detail="Keys are filled one by one, which takes a job each there.",
                hint="Put the view on DuckDB, or let the driver keep it: [spark] local_memory.",
                code="partial_dist",
            )
        elif v.plan.lag is not None:
            v.error = UnsupportedSql(
                f'view "{v.name}" has a target_lag, and what is on Spark is kept by the executors',
                detail="Between two batches they take nothing: each of their commits is marked with a batch.",
                hint="Leave out target_lag, and it is maintained in each batch; or put it on DuckDB, or let the driver "
                "keep it: [spark] local_memory.",
                code="paces_dist",
            )


def outgrown(
    conn: psycopg.Connection,
    views: list[Compiled],
    config: Config,
    elsewhere: Collection[str],
    by_key: Collection[str],
    catalog: Catalog,
) -> list[str]:
    """A warning where what is Local is larger than it may be, as a list of one. Tables are `elsewhere`, or have the
    rows of some keys alone."""
    mine = [v for v in views if v.engine == EXECUTORS.name and v.plan is not None and v.error is None]
    sizes = {t: n for t, n in sizes_of(conn, mine, catalog).items() if t not in by_key}
    limit, size = config.spark.local_bytes, sum(n for t, n in sizes.items() if t not in elsewhere)
    if size <= limit:
        return []
    dist = _dist(mine, sizes, limit, catalog)
    if dist is not None:
        trial = [replace(v, notes=[]) for v in mine]
        dist = few_rounds(trial, dist, sizes, limit, catalog, views, config.defaults.strategy)
        if {*dist} <= {*elsewhere}:  # it would stay as it is
            return []
    return [
        f"the tables that the driver keeps have {size:,} bytes, more than local_memory ({config.spark.local_memory}). "
        f"{AGAIN}"
    ]
