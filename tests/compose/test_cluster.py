"""The compose demo without containers: its own commands, schema, views and workload, on a Spark master and workers of
their own processes; one of them is killed meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from connectors.java import java_home
from tests.compose.test_compose_static import COMPOSE, PROJECT, SERVICES
from tests.pipelines.running import running, until
from tests.ports import free_port
from tests.project import Project

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@contextmanager
def process(command: list[str], home: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of compose's, its output in a file; stopped at the end."""
    with (home / "output").open("ab") as out:
        p = subprocess.Popen(command, cwd=home, env={**os.environ, **env}, stdout=out, stderr=out)
    try:
        yield p
    finally:
        p.terminate()
        p.wait(20)


@dataclass
class Cluster:
    """The master's address, and the processes of its workers."""

    master: str
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A Spark master that counts its workers, all started with the words of compose.yaml."""
    import pyspark

    spark, port, page = Path(pyspark.__file__).parent, str(free_port()), str(free_port())
    here = {
        "/opt/spark/bin/spark-class": str(spark / "bin" / "spark-class"),
        "spark-master": "127.0.0.1",
        "7077": port,
        "8080": page,
        "spark://spark-master:7077": f"spark://127.0.0.1:{port}",
    }
    env = {
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
        "PYSPARK_PYTHON": sys.executable,
    }
    if home := java_home():
        env["JAVA_HOME"] = home
    worker = SERVICES["spark-worker"]
    replicas = worker["deploy"]["replicas"]
    alive = [sys.executable, str(COMPOSE / "spark" / "alive.py"), f"http://127.0.0.1:{page}/json/", str(replicas)]
    with ExitStack() as stack:

        def started(words: list[str]) -> subprocess.Popen[bytes]:
            return stack.enter_context(process([here.get(w, w) for w in words], tmp_path, **env))

        started(SERVICES["spark-master"]["command"])
        workers = []
        for _ in range(replicas):
            here["8081"] = str(free_port())
            workers.append(started(worker["command"]))
        until(lambda: subprocess.run(alive, capture_output=True).returncode == 0, "the master counts its workers", 60)
        yield Cluster(f"spark://127.0.0.1:{port}", workers)


SMALL_RANGES = """
import connectors.postgres.ranges as ranges
ranges.PAGES = 64
from pipelines.cli import main
main()
"""


def test_executors_copy_tables_though_a_worker_is_killed(database: str, tmp_path: Path, cluster: Cluster) -> None:
    views = {
        "sums": "SELECT label, count(*) AS n, sum(amount) AS s FROM t JOIN small USING (g) GROUP BY label",
        "some": "SELECT id, u, v, a, length(big) AS l, free FROM t WHERE id % 9 = 0",
    }
    project = Project.create(tmp_path / "project", database, views, "spark", local_memory="1MB")
    config = project.home / "tidemark.toml"
    config.write_text(config.read_text().replace("[spark]", f'[spark]\nmaster = "{cluster.master}"'))
    project.source(
        "CREATE TABLE t (id bigint PRIMARY KEY, g int, amount numeric(12,2), u uuid, v interval, a int[], big text, "
        "free numeric)",
        "INSERT INTO t SELECT i, i % 7, i / 7.0, md5(i::text)::uuid, i * interval '1 s', ARRAY[i, NULL], "
        "CASE WHEN i % 1000 = 0 THEN repeat(md5(i::text), 200) END, CASE WHEN i = 70000 THEN 'NaN'::numeric ELSE i END "
        "FROM generate_series(1, 150000) i",
        "CREATE TABLE small (g int PRIMARY KEY, label text)",
        "INSERT INTO small SELECT i, 'l' || i FROM generate_series(0, 6) i",
    )
    folder = project.home / "warehouse" / "delta" / "mirror" / "t"
    deploying = subprocess.Popen(
        [sys.executable, "-c", SMALL_RANGES, "deploy", "--keep-going"],
        cwd=project.home,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    until(lambda: len(list(folder.glob("base-*.parquet"))) > 3, "executors have written some files", 120)
    cluster.workers[0].kill()
    said = deploying.communicate(timeout=240)[0].decode()
    assert deploying.returncode == 1 and "NaN does not fit" in said, said  # the row's view alone
    assert "the driver does" not in said and len(list(folder.glob("base-*.parquet"))) > 20, said
    project.source("UPDATE t SET amount = amount + 1 WHERE id % 50 = 0", "DELETE FROM t WHERE id < 500 OR free = 'NaN'")
    for command in (["run", "--once"], ["deploy"], ["verify"]):
        done = project.command(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "do not find rows by indexes" not in done.stderr, done.stderr
    assert all(f"{v}: equal" in done.stdout for v in views), done.stdout


def test_views_stay_equal_though_a_worker_is_killed(
    database: str, tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database, autocommit=True) as c:
        for f in sorted((COMPOSE / "postgres").glob("*.sql")):
            c.execute(f.read_text())
    monkeypatch.setenv("PGDSN", database)
    project = Project.create(tmp_path / "project", database, {}, "duckdb")
    text = (PROJECT / "tidemark.toml").read_text()
    for theirs, ours in (
        ("/warehouse", "warehouse"),
        ("spark://spark-master:7077", cluster.master),
        ('"tidemark"', '"127.0.0.1"'),
        ("0.0.0.0", "127.0.0.1"),
    ):
        assert theirs in text
        text = text.replace(theirs, ours)
    (project.home / "tidemark.toml").write_text(text)
    for view in (PROJECT / "views").iterdir():
        (project.home / "views" / view.name).write_bytes(view.read_bytes())

    with process([sys.executable, "-u", str(COMPOSE / "workload" / "workload.py")], tmp_path, RATE="50"):
        deployed = project.command("deploy")
        assert deployed.returncode == 0, deployed.stderr
        with running(project, batch=60) as loop:
            for killed in (None, cluster.workers[0]):
                if killed is not None:  # and its executor with it
                    killed.kill()
                verified = project.command("verify")
                ended = loop.communicate()[1] if loop.poll() is not None else ""  # why it did, if it did
                assert verified.returncode == 0, verified.stdout + verified.stderr + ended
                assert all(f"{v.name}: equal" in verified.stdout for v in project.deployed.views), verified.stdout
