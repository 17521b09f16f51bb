"""A wheel builds, and what it installs runs without the repository."""

from __future__ import annotations

import site
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_installs_in_a_fresh_environment(tmp_path: Path) -> None:
    """Its dependencies are those of this environment, behind what it installs."""
    source = tmp_path / "source"
    run("git", "clone", "-q", "--no-hardlinks", ROOT, source, cwd=tmp_path)
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    fresh = tmp_path / "fresh"
    venv.create(fresh, with_pip=True)
    run(fresh / "bin" / "pip", "install", "-q", "--no-deps", wheel, cwd=tmp_path)
    (packages,) = (fresh / "lib").glob("python*/site-packages")
    here = next(p for p in site.getsitepackages() if p.endswith("site-packages"))
    (packages / "dependencies.pth").write_text(f"{here}\n")
    work = tmp_path / "work"
    work.mkdir()
    run(fresh / "bin" / "tidemark", "init", cwd=work)
    (work / "views" / "one.sql").write_text("CREATE MATERIALIZED VIEW one AS SELECT g, count(*) AS n FROM t GROUP BY g")
    (work / "schema.sql").write_text("CREATE TABLE t (id int PRIMARY KEY, g int)")
    printed = run(fresh / "bin" / "tidemark", "compile", "one", "--schema", "schema.sql", cwd=work)
    assert "MERGE INTO state." in printed
    where = run(fresh / "bin" / "python", "-c", "import compiler; print(compiler.__file__)", cwd=work)
    assert where.startswith(str(packages))
