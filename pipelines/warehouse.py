"""The engines of a warehouse and what is deployed on each: opened when first needed, closed together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compiler.maintenance import Program, program
from compiler.parse import parse_view
from compiler.state import ViewPlan
from connectors.engine import Engine
from pipelines.config import Config
from pipelines.deployment import DeployedView, Deployment
from pipelines.project import Compiled, compile_project


class Warehouse:
    """Engines by name, and the compiled plans of the deployed views."""

    def __init__(self, config: Config, deployment: Deployment, read_only: bool = False) -> None:
        self.config, self.deployment, self.read_only = config, deployment, read_only
        self.path: Path = config.warehouse_path
        self.engines: dict[str, Engine] = {}
        self.compiled: dict[str, Compiled] = {}
        self.recompile()

    def recompile(self) -> None:
        """Plans are made from the views' text by this version of the compiler, never stored."""
        views = [Compiled(v.name, parse_view(v.text), engine=v.engine) for v in self.deployment.views]
        for v, d in zip(compile_project(views, self.deployment.to_catalog()), self.deployment.views, strict=True):
            if v.error is not None:
                raise v.error
            v.engine = d.engine
            self.compiled[v.name] = v

    def engine(self, name: str) -> Engine:
        if name not in self.engines:
            if name == "duckdb":
                from connectors.duckdb.engine import DuckDBEngine

                self.engines[name] = DuckDBEngine(self.path / "tidemark.duckdb", self.read_only)
            else:
                from connectors.spark.engine import SparkEngine

                spark = SparkEngine(self.path / "delta", self.config.spark.master, self.config.spark.jars,
                                    self.config.spark.settings)
                spark.know(map(self.deployment.table, self.deployment.tables.get("spark", [])))
                spark.plans = {p.view: p for p in self.plans("spark")}
                self.engines[name] = spark
        return self.engines[name]

    def used_engines(self) -> list[str]:
        return [e for e in ("duckdb", "spark") if self.deployment.tables.get(e) is not None]

    def plans(self, engine: str) -> list[ViewPlan]:
        return [v.plan for v in self.compiled.values() if v.engine == engine and v.plan is not None]

    def program(self, engine: str) -> Callable[[frozenset[str]], Program]:
        return lambda changed: program(self.plans(engine), changed)

    def view(self, name: str) -> tuple[DeployedView, ViewPlan]:
        from compiler.errors import TidemarkError

        for v in self.deployment.views:
            if v.name == name:
                plan = self.compiled[name].plan
                assert plan is not None
                return v, plan
        import difflib

        near = difflib.get_close_matches(name, [v.name for v in self.deployment.views], 1)
        raise TidemarkError(f'view "{name}" is not deployed', code="undefined_view",
                            hint=f'Perhaps you meant "{near[0]}".' if near else "tidemark status lists the views.")

    def forget(self, view: str) -> None:
        """Leave a view out of the deployment."""
        self.compiled.pop(view, None)
        self.deployment.views = [v for v in self.deployment.views if v.name != view]

    def close(self) -> None:
        for e in self.engines.values():
            e.close()
        self.engines.clear()
