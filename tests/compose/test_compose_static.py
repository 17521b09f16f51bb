"""The compose demo, checked without a container engine: what it names has to exist."""

from __future__ import annotations

import os
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.catalog import Catalog, read_schema
from compiler.maintain.differentiate import program
from pipelines import cli
from pipelines.config import load_config
from pipelines.project import compile_project, read_views
from tests.conftest import DOCKER_PASSWORD

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = ROOT / "compose"
PROJECT = COMPOSE / "project"
FILE: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
KNOWN = {
    "image",
    "build",
    "command",
    "environment",
    "ports",
    "volumes",
    "healthcheck",
    "depends_on",
    "init",
    "restart",
    "stop_grace_period",
    "network_mode",
    "profiles",
    "deploy",
}

each_service = pytest.mark.parametrize("name", SERVICES)


def words(service: dict[str, Any]) -> list[str]:
    """The command, with the script of `sh -c` taken apart."""
    return " ".join(service.get("command", [])).split()


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """Target → source."""
    pairs = [v.split(":") for v in service.get("volumes", [])]
    return {p[1]: p[0] for p in pairs}


def expanded(text: str) -> str:
    """${NAME:-default} as compose reads it where NAME is not set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_the_file_has_only_known_sections() -> None:
    assert {k for k in FILE if not k.startswith("x-")} == {"name", "services", "volumes"}
    assert set(SERVICES) == {"postgres", "spark-master", "spark-worker", "tidemark", "workload", "status", "verify"}


@each_service
def test_a_service_is_well_formed(name: str) -> None:
    s = SERVICES[name]
    assert set(s) <= KNOWN
    assert "image" in s or "build" in s
    assert all(isinstance(w, str) for w in s.get("command", []))
    assert all(isinstance(v, str) for v in s.get("environment", {}).values())
    if "healthcheck" in s:
        assert s["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


@each_service
def test_what_is_waited_for_has_a_healthcheck(name: str) -> None:
    for other, condition in SERVICES[name].get("depends_on", {}).items():
        assert condition == {"condition": "service_healthy"}
        assert "healthcheck" in SERVICES[other]
        assert "profiles" not in SERVICES[other]


def test_dependencies_have_no_cycle() -> None:
    order = list(TopologicalSorter({n: s.get("depends_on", {}) for n, s in SERVICES.items()}).static_order())
    assert set(order) == set(SERVICES)
    assert order.index("postgres") < order.index("tidemark")
    assert order.index("spark-master") < order.index("spark-worker") < order.index("tidemark") < order.index("verify")


def dockerfile(service: dict[str, Any]) -> Path:
    build = service["build"]
    return (COMPOSE / build["context"] / build.get("dockerfile", "Dockerfile")).resolve()


DOCKERFILES = sorted({dockerfile(s) for s in SERVICES.values() if "build" in s})


def test_images_are_pinned() -> None:
    images = [s["image"] for s in SERVICES.values() if "image" in s]
    args = next(s["build"]["args"] for s in SERVICES.values() if "build" in s)
    for f in DOCKERFILES:
        images += re.findall(r"^FROM (\S+)", f.read_text(), re.M)
    for image in images:
        tag = re.sub(r"\$\{(\w+)\}", lambda m: args[m[1]], image).partition(":")[2]
        assert re.match(r"\d+\.\d+", tag), image


def test_ports_are_published_on_loopback_only() -> None:
    ports = [p for s in SERVICES.values() for p in s.get("ports", [])]
    for p in ports:
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", expanded(p)), p
    assert "127.0.0.1:${TIDEMARK_PG_PORT:-54320}:5432" in SERVICES["postgres"]["ports"]


def test_paths_that_are_mounted_or_built_exist() -> None:
    for s in SERVICES.values():
        for source in mounts(s).values():
            assert (COMPOSE / source).exists() if source.startswith(".") else source in FILE["volumes"]
        if "build" in s:
            assert dockerfile(s).is_file()


@pytest.mark.parametrize("file", DOCKERFILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_a_dockerfile_copies_what_exists_and_declares_its_arguments(file: Path) -> None:
    text = file.read_text()
    build = next(s["build"] for s in SERVICES.values() if "build" in s and dockerfile(s) == file)
    for source in re.findall(r"^COPY (\S+) ", text, re.M):
        assert (COMPOSE / build["context"] / source).exists()
    assert set(build["args"]) == set(re.findall(r"^ARG (\w+)", text, re.M))


def test_spark_and_delta_are_those_of_the_distribution() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["spark"]
    args = next(s["build"]["args"] for s in SERVICES.values() if "build" in s)
    assert f"delta-spark=={args['DELTA_VERSION']}" in extra
    assert f"pyspark=={args['SPARK_VERSION'].rpartition('.')[0]}.*" in extra


def test_the_source_is_logical() -> None:
    assert "wal_level=logical" in SERVICES["postgres"]["command"]
    assert mounts(SERVICES["postgres"])["/docker-entrypoint-initdb.d"] == "./postgres"


def test_the_tests_know_its_password() -> None:
    assert DOCKER_PASSWORD in (
        expanded(SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"]),
        os.environ.get("TIDEMARK_PG_PASSWORD"),
    )


def test_the_warehouse_is_one_volume_at_one_path() -> None:
    for name in ("spark-master", "spark-worker", "tidemark", "verify"):
        assert mounts(SERVICES[name])["/warehouse"] == "warehouse"


def calls(command: list[str]) -> list[str]:
    return [b for a, b in zip(command, command[1:], strict=False) if a == "tidemark"]


def test_commands_exist() -> None:
    called = {n: calls(words(s)) for n, s in SERVICES.items()}
    assert called["tidemark"] == ["deploy", "run"]
    assert called["verify"] == ["verify"]
    for name in {c for cs in called.values() for c in cs}:
        assert name in cli.main.commands
    options = {o for p in cli.main.commands["status"].params for o in p.opts}
    assert set(words(SERVICES["status"])[2:]) <= options


def test_scripts_compile() -> None:
    scripts = sorted(COMPOSE.rglob("*.py"))
    assert scripts
    for path in scripts:
        compile(path.read_text(), str(path), "exec")
    for s in SERVICES.values():
        for word in words(s) + s.get("healthcheck", {}).get("test", []):
            if word.endswith(".py"):
                assert Path(word).name in {p.name for p in scripts}


def test_the_project_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    dsn = expanded(SERVICES["tidemark"]["environment"]["PGDSN"])
    monkeypatch.setenv("PGDSN", dsn)
    config = load_config(PROJECT)
    assert config.source.dsn == dsn
    assert "host=postgres " in dsn
    assert config.spark.master in words(SERVICES["spark-worker"])
    assert config.spark.settings["spark.driver.host"] == "tidemark"
    assert str(config.warehouse_path) in mounts(SERVICES["tidemark"])
    assert mounts(SERVICES["tidemark"])["/project"] == "./project"


def catalog() -> Catalog:
    return read_schema("\n".join(f.read_text() for f in sorted((COMPOSE / "postgres").glob("*.sql"))))


def test_the_schema_has_primary_keys() -> None:
    tables = {name: t.key for (_, name), t in catalog().tables.items()}
    assert tables == {
        "customer": ("customer_id",),
        "product": ("product_id",),
        "orders": ("order_id",),
        "order_line": ("order_id", "line_no"),
    }


def test_views_compile_and_are_maintained_by_rules() -> None:
    views = compile_project(read_views(PROJECT / "views"), catalog())
    assert [v.error for v in views if v.error is not None] == []
    assert sorted(v.engine for v in views) == ["duckdb"] * 4 + ["spark"] * 2
    assert {v.maintenance for v in views} <= {"incremental", "keyed"}
    plans = [v.plan for v in views if v.plan is not None]
    assert program(plans, frozenset(t for p in plans for t in p.tables))
