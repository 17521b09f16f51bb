"""Views in an object store follow those of the warehouse, at one LSN, and catch up once the store is back."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from deltalake import DeltaTable

from connectors.failpoints import VARIABLE
from connectors.spark.local import copies
from connectors.spark.local.delta import MARK
from tests.pipelines.running import running, until
from tests.project import Project

VIEWS = {"totals": "SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g", "rows": "SELECT id, x, at FROM t"}
SCHEMA = (
    "CREATE TABLE t (id int PRIMARY KEY, g int, x numeric(10,2), at timestamptz)",
    "INSERT INTO t SELECT i, i % 5, i * 1.5, '2026-01-01'::timestamptz + i * interval '1 min' FROM "
    "generate_series(1, 60) i",
)
KEYS = {"aws_access_key_id": "one", "aws_secret_access_key": "two"}


class S3:
    """A server on a port of its own, with a bucket."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = int(s.getsockname()[1])
        self.start()
        self.client.create_bucket(Bucket="lake")

    def start(self) -> None:
        """As a process: deltalake holds Python's lock while it waits for some of its answers."""
        self.server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._answers, "the server answers", 30)

    def _answers(self) -> bool:
        assert self.server.poll() is None
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        self.server.kill()
        self.server.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def client(self) -> Any:
        return boto3.client("s3", endpoint_url=self.url, region_name="us-east-1", **KEYS)

    @property
    def settings(self) -> dict[str, str]:
        end = {"endpoint": self.url, "endpoint.region": "us-east-1", "access.key": "one", "secret.key": "two"}
        return {f"{copies.S3A}{k}": v for k, v in end.items()}

    def read(self, view: str, version: int | None = None) -> tuple[list[tuple[object, ...]], str]:
        """A view's rows there, and of which LSN."""
        store = copies.Store("s3a://lake/shop", self.settings)
        table = DeltaTable(store.of(f"views/{view}"), version=version, storage_options=store.options)
        found = table.to_pyarrow_table().to_pylist()
        return sorted(tuple(r.values()) for r in found), str(table.history(1)[0][MARK])

    def frontier(self) -> dict[str, Any]:
        return dict(json.loads(self.client.get_object(Bucket="lake", Key="shop/frontier.json")["Body"].read()))


@pytest.fixture
def s3() -> Iterator[S3]:
    server = S3()
    try:
        yield server
    finally:
        server.stop()


def project(database: str, home: Path, settings: dict[str, str], uri: str = "s3a://lake/shop") -> Project:
    p = Project.create(home, database, VIEWS, engine="spark", local_memory="1GB")
    with (home / "tidemark.toml").open("a") as f:
        f.write(f'copies = "{uri}"\n[spark.settings]\n')
        f.writelines(f'"{k}" = "{v}"\n' for k, v in settings.items())
    p.source(*SCHEMA)
    return p


def here(p: Project, view: str) -> list[tuple[object, ...]]:
    found = DeltaTable(str(p.config.warehouse_path / "delta" / "views" / view)).to_pyarrow_table().to_pylist()
    return sorted(tuple(r.values()) for r in found)


def test_a_store_has_what_was_deployed_and_what_came(database: str, tmp_path: Path, s3: S3) -> None:
    p = project(database, tmp_path, s3.settings)
    p.deploy()
    assert all(s3.read(v)[0] == here(p, v) for v in VIEWS)
    p.source("UPDATE t SET x = x + 1 WHERE id < 10", "DELETE FROM t WHERE g = 3")
    p.catch_up()
    noted = s3.frontier()
    for v in VIEWS:
        assert s3.read(v, noted["versions"][f"views/{v}"]) == (here(p, v), noted["lsn"])
    p.assert_equal()


def test_a_view_that_changes_or_goes(database: str, tmp_path: Path, s3: S3) -> None:
    p = project(database, tmp_path, s3.settings)
    p.deploy()
    p.write({"rows": "SELECT id, g, x::float8 AS x FROM t"})
    (tmp_path / "views" / "totals.sql").unlink()
    p.deploy()
    assert s3.read("rows")[0] == here(p, "rows") and len(s3.read("rows")[0][0]) == 3
    assert s3.frontier()["versions"].keys() == {"views/rows"}
    left = s3.client.list_objects_v2(Bucket="lake", Prefix="shop/views/totals")
    assert not left.get("KeyCount"), left


def test_a_store_that_is_away_stops_nothing(
    database: str, tmp_path: Path, s3: S3, caplog: pytest.LogCaptureFixture
) -> None:
    p = project(database, tmp_path, s3.settings)
    p.deploy()
    s3.stop()
    p.source("UPDATE t SET x = x + 1")
    p.catch_up()
    assert "older than those of the warehouse" in caplog.text
    p.assert_equal()
    s3.start()
    s3.client.create_bucket(Bucket="lake")  # it has lost everything, too
    p.catch_up()
    assert all(s3.read(v)[0] == here(p, v) for v in VIEWS)


def test_it_follows_a_pipeline_that_runs(database: str, tmp_path: Path, s3: S3) -> None:
    p = project(database, tmp_path, s3.settings)
    p.deploy()
    with running(p):
        for i in range(3):
            p.source(f"UPDATE t SET x = x + 1 WHERE id % 3 = {i}")
            before = s3.frontier()["lsn"]
            until(lambda before=before: s3.frontier()["lsn"] != before, "it follows", 40)  # type: ignore[misc]
            time.sleep(0.5)
    assert all(s3.read(v)[0] == here(p, v) for v in VIEWS)
    p.assert_equal()


@pytest.mark.parametrize("where", ["copies.committed", "copies.noted"])
def test_what_was_cut_short_is_done_again(
    database: str, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = copies.Store((tmp_path / "lake").as_uri())
    p = project(database, tmp_path, {}, store.uri)
    p.deploy()
    p.source("UPDATE t SET x = x + 1 WHERE id < 10")
    monkeypatch.setenv(VARIABLE, f"{where}=kill:1")
    assert p.command("run", "--once").returncode == -9
    monkeypatch.delenv(VARIABLE)
    p.catch_up()
    for v in VIEWS:
        there = DeltaTable(store.of(f"views/{v}")).to_pyarrow_table().to_pylist()
        assert sorted(tuple(r.values()) for r in there) == here(p, v)


@pytest.mark.parametrize("text", ["ftp://x/y", "lake"])
def test_what_is_no_store_is_refused(database: str, tmp_path: Path, text: str) -> None:
    p = project(database, tmp_path, {}, text)
    done = p.command("status")
    assert done.returncode == 2 and "begins with none of" in done.stderr, done.stderr
