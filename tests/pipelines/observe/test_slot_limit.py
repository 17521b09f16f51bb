"""How near the slot is to being lost is told before it is: by `status` and by the metrics of a pipeline."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pipelines.showing.embedded import EmbeddedPostgres
from tests.pipelines.running import running, until
from tests.ports import free_port
from tests.project import Project

KEPT = 64 << 20


@pytest.fixture(scope="module")
def bounded() -> Iterator[str]:
    with EmbeddedPostgres() as server:
        with psycopg.connect(server.dsn, autocommit=True) as c:
            for setting in (f"max_slot_wal_keep_size = '{KEPT >> 20}MB'", "max_wal_size = '64MB'"):
                c.execute(f"ALTER SYSTEM SET {setting}")
            c.execute("SELECT pg_reload_conf()")
        yield server.dsn


def write(p: Project, size: int) -> None:
    """So many bytes of WAL."""
    with psycopg.connect(p.dsn, autocommit=True) as c:
        for _ in range(size >> 20):
            c.execute("SELECT pg_logical_emit_message(false, 'x', repeat('x', 1 << 20))")


def told(p: Project) -> dict[str, object]:
    return dict(json.loads(p.command("status", "--json").stdout))


def test_it_is_told_before_it_is_lost(bounded: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, bounded, {"v": "SELECT count(*) AS n FROM t"})
    p.source("CREATE TABLE t (id int PRIMARY KEY)")
    p.deploy()
    s = told(p)
    assert s["wal_status"] == "reserved" and isinstance(s["safe_bytes"], int) and s["safe_bytes"] > KEPT // 2
    assert "at most" in p.command("status").stdout and "warning" not in p.command("status").stdout
    write(p, int(s["safe_bytes"]) - (8 << 20))
    said = p.command("status").stdout
    assert "warning: the source may remove WAL that the slot needs, once" in said, said
    p.catch_up()
    assert "warning" not in p.command("status").stdout
    write(p, 2 * KEPT)
    p.source("CHECKPOINT")
    said = p.command("status").stdout
    assert "has lost changes" in said and "warning" not in said, said


def test_a_pipeline_tells_it(bounded: str, tmp_path: Path) -> None:
    p = Project.create(tmp_path, bounded, {"v": "SELECT count(*) AS n FROM u"})
    p.source("CREATE TABLE u (id int PRIMARY KEY)")
    port = free_port()
    with (tmp_path / "tidemark.toml").open("a") as f:
        f.write(f'[metrics]\nlisten = "127.0.0.1:{port}"\n')
    p.deploy()

    def safe() -> bool:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as r:
            lines = r.read().decode().splitlines()
        return any(line.startswith("tidemark_slot_safe_bytes ") and float(line.split()[1]) > 0 for line in lines)

    with running(p):
        until(safe, "the metrics have it", 30)
