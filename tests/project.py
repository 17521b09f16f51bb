"""A project in a folder, driven as a user would, in this process or by the command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pipelines import deployment
from pipelines.config import Config, load_config
from pipelines.deploying.deploy import Deployed
from pipelines.running.deploying import deploy
from pipelines.running.run import run
from pipelines.verifying.verify import Verified, verify


@dataclass
class Project:
    """tidemark.toml and views/*.sql under `home`."""

    home: Path
    dsn: str

    @classmethod
    def create(
        cls,
        home: Path,
        dsn: str,
        views: dict[str, str],
        engine: str = "duckdb",
        capture: str = "stream",
        strategy: str = "auto",
        local_memory: str = "none",
    ) -> Project:
        """On Spark by the executors; with a `local_memory` by the driver. With the strategy paces views may lag an
        hour."""
        (home / "views").mkdir(parents=True, exist_ok=True)
        source = f'[source]\ndsn = "{dsn}"\ncapture = "{capture}"\n'
        own = "auto" if strategy == "paces" else strategy
        defaults = f'[defaults]\nengine = "{engine}"\nstrategy = "{own}"\n'
        (home / "tidemark.toml").write_text(f'{source}\n{defaults}\n[spark]\nlocal_memory = "{local_memory}"\n')
        project = cls(home, dsn)
        project.write(views, "target_lag = '1 h'" if strategy == "paces" else "")
        return project

    def write(self, views: dict[str, str], options: str = "") -> None:
        said = f" WITH ({options})" if options else ""
        for name, query in views.items():
            (self.home / "views" / f"{name}.sql").write_text(f'CREATE MATERIALIZED VIEW "{name}"{said} AS\n{query};\n')

    @property
    def config(self) -> Config:
        return load_config(self.home)

    def source(self, *statements: str) -> None:
        """Each statement in a transaction of its own."""
        with psycopg.connect(self.dsn, autocommit=True) as c:
            for s in statements:
                c.execute(s)

    def play(self, script: Path) -> None:
        """A file of statements, as psql -f would."""
        with psycopg.connect(self.dsn, autocommit=True) as c:
            c.execute(script.read_text().encode())

    def deploy(self, keep_going: bool = False) -> Deployed:
        """By the pipeline that runs, if there is one."""
        return deploy(self.config, keep_going, lambda *_: None, lambda _: None, False)

    def catch_up(self) -> None:
        run(self.config, once=True)

    def verify(self) -> list[Verified]:
        return verify(self.config, [])

    def assert_equal(self) -> None:
        """Every view equals the source's own answer."""
        results = self.verify()
        assert results, "nothing is deployed"
        wrong = [r.line() for r in results if not r.equal]
        assert not wrong, "\n".join(wrong)

    def follow(self, batches: Path) -> None:
        """Every view equals the source's own answer, now and after each file of the folder."""
        self.assert_equal()
        for batch in sorted(batches.glob("*.sql")):
            self.play(batch)
            self.assert_equal()

    def compared(self, batches: Path) -> dict[str, list[str]]:
        """Of every view and mirror, how it differs from the source's own answer now and after each file of the
        folder."""
        out: dict[str, list[str]] = {}
        for batch in (None, *sorted(batches.glob("*.sql"))):
            if batch is not None:
                self.play(batch)
            for r in self.verify():
                lines = out.setdefault(r.view, [])
                if not r.equal:
                    lines.append(f"{batch.name if batch is not None else 'deployed'}: {r.line()}")
        return out

    def command(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pipelines.cli", *args], cwd=self.home, capture_output=True, text=True
        )

    @property
    def deployed(self) -> deployment.Deployment:
        return deployment.require(self.config.warehouse_path)

    @property
    def maintenance(self) -> dict[str, str]:
        return {v.name: v.maintenance for v in self.deployed.views}
