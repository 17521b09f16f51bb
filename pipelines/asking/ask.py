"""query, from the command line: through the running pipeline when there is one."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from compiler.errors import TidemarkError
from compiler.formats.intervals import interval_text
from connectors.duckdb.session import scratch
from connectors.postgres.connection import format_lsn
from pipelines import deployment as deployments
from pipelines.applying.capture import current_lsn
from pipelines.applying.catching_up import Following, following
from pipelines.applying.upquery import fill
from pipelines.asking.client import connect_running
from pipelines.asking.eviction import Eviction
from pipelines.asking.query import Asker, KeysMissing
from pipelines.asking.reading import LocalReader
from pipelines.config import Config
from pipelines.warehouse import Warehouse

QUOTED = re.compile(r'[",\r\n]|^\s|\s$')  # what CSV has in quotes
WAITS = 100  # for keys that were read from the source to agree: each answer may ask for others


def ask(
    config: Config,
    sql: str,
    wait: bool,
    internal: bool = False,
    every_key: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> pa.Table:
    """The answer; with `wait`, after everything committed before the call is in the views, and keys that were read from
    the source agree. Without it `told` says from which LSN on they will."""
    d = deployments.require(config.warehouse_path)
    running = connect_running(config.warehouse_path)
    if running is not None:
        with running:
            if wait:
                running.wait(current_lsn(config.source.dsn))
            for _ in range(WAITS):
                rows = running.query(sql, internal, every_key, finished=wait)
                if not running.agree or not wait or every_key:
                    break
                running.wait(running.agree)
            _tell(running.agree, told)
            return rows
    if not wait:
        warehouse = Warehouse(config, d, read_only=True)
        try:
            found = LocalReader(warehouse).answer(sql, internal, every_key)
            _tell(found.agree, told)
            return found.rows
        except KeysMissing:  # which takes writing
            pass
        finally:
            warehouse.close()
    with deployments.locked(config.warehouse_path), ExitStack() as held:
        warehouse = Warehouse(config, d)
        held.callback(warehouse.close)
        stream: Following | None = None
        if wait:
            stream = held.enter_context(following(config, warehouse))
            stream.catch_up()
        else:
            warehouse.finish_deploy()
        asker = Asker(lambda view, keys: fill(warehouse, view, keys, stream.capture.recent if stream else ()))
        for _ in range(WAITS):
            got = LocalReader(warehouse, asker).answer(sql, internal, every_key)
            if not got.agree or stream is None or every_key:
                break
            stream.catch_up()
        _tell(got.agree, told)
        Eviction(warehouse, asker.uses).turn()
        return got.rows


def _tell(agree: int, told: Callable[[str], None]) -> None:
    if agree:
        told(
            f"each key is as it was in the source when it was read; they agree from {format_lsn(agree)} on, which the "
            "stream has not reached (--wait waits for it)"
        )


def render(t: pa.Table, fmt: str) -> str:
    """Rows as a table, CSV or JSON lines."""
    t = _shown(t)
    names = t.column_names
    values = list(zip(*(c.to_pylist() for c in t.columns), strict=True))
    if fmt == "json":
        keys = _once(names)
        return "\n".join(
            json.dumps(dict(zip(keys, map(_plain, r), strict=True)), default=str, ensure_ascii=False) for r in values
        )
    if fmt == "csv":
        return "\n".join(",".join(map(_field, r)) for r in (names, *values))
    if fmt != "table":
        raise TidemarkError(f"unknown format {fmt}")
    rows = [[_text(v) for v in r] for r in values]
    widths = [max([len(n), *(len(r[i]) for r in rows)]) for i, n in enumerate(names)]
    lines = [" | ".join(f"{n:{w}}" for n, w in zip(names, widths, strict=True)), "-+-".join("-" * w for w in widths)]
    lines += [" | ".join(f"{v:{w}}" for v, w in zip(r, widths, strict=True)) for r in rows]
    return "\n".join([*lines, f"({len(rows)} row{'s' if len(rows) != 1 else ''})"])


def _once(names: list[str]) -> list[str]:
    """Names for the keys of an object: of equal ones, the later have a number."""
    out: list[str] = []
    for n in names:
        other = n
        for i in itertools.count(1):
            if other not in out and (other == n or other not in names):
                break
            other = f"{n}_{i}"
        out.append(other)
    return out


def _field(v: object) -> str:
    """A value as Postgres' COPY writes CSV: nothing for NULL, and quotes where there are none else."""
    if v is None:
        return ""
    text = _text(v)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if not text or QUOTED.search(text) else text


def _shown(t: pa.Table) -> pa.Table:
    """With columns as text whose values Python cannot hold: infinite times, and those before the common era."""
    for i, name in enumerate(t.column_names):
        try:
            t.column(i).to_pylist()
        except (ValueError, OverflowError):
            con = scratch()
            con.register("one", pa.table({"v": t.column(i)}))
            kind = "VARCHAR[]" if pa.types.is_list(t.schema.field(i).type) else "VARCHAR"
            text = con.execute(f"SELECT CAST(v AS {kind}) AS v FROM one").to_arrow_table().column("v")
            t = t.set_column(i, name, pa.array([_era(v) for v in text.to_pylist()]))
    return t


def _era(v: Any) -> Any:
    """As Postgres writes it: 0044-03-15 BC."""
    return v.replace(" (BC)", " BC") if isinstance(v, str) else [_era(x) for x in v] if isinstance(v, list) else v


def _plain(v: object) -> object:
    """Values that Python or JSON would write in ways of their own, as Postgres prints them."""
    if isinstance(v, pa.MonthDayNano):
        return interval_text(v[0], v[1], v[2] // 1000)
    if isinstance(v, bytes):
        return "\\x" + v.hex()
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    return [_plain(x) for x in v] if isinstance(v, list) else v


def _text(v: object) -> str:
    return "" if v is None else str(_plain(v))
