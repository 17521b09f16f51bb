"""The bench at a small scale: it runs, compares every cell with its query, and writes its page. No time is judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts"))

from benchmarks.sections import merged  # noqa: E402


def test_every_part_runs_and_the_page_is_written(server: str, tmp_path: Path) -> None:
    small = ["--scale", "0.01", "--sizes", "1,100", "--repeat", "1", "--rows", "2000", "--commits", "2"]
    small += ["--large-rows", "20000", "--copied-rows", "20000", "--operations", "300", "--memory", "4KB,1MB"]
    small += ["--paced", "agg_join", "--left", "0.2"]
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "scripts" / "bench"),
            *small,
            "--dsn",
            server,
            "--work",
            str(tmp_path / "work"),
            "--docs",
            str(tmp_path / "docs"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "docs" / "bench.md").read_text()
    assert "**all six**" in page
    assert "commit to visible" in page
    assert "## A large transaction" in page and "## A copy that goes on" in page
    assert "## Compiling" in page and "| TPC-H, 22 | higher_order |" in page
    assert "## Paces" in page and "The bound was kept in" in page
    assert "## Partial views" in page and "| 4KB |" in page
    for picture in ("bench.png", "partial.png", "paces.png"):
        assert (tmp_path / "docs" / picture).stat().st_size > 0 and f"]({picture})" in page


def test_what_was_not_measured_stays_on_the_page() -> None:
    old = merged(
        "", [["## Aims", "", "| measure | reached |", "|---|---|", "| a | 1 |", "| b | 2 |", "", "![x](x.png)"]]
    )
    old = merged(old, [["## Reading", "", "slow"], ["## Copying", "", "done"]])
    new = merged(old, [["## Aims", "", "| measure | reached |", "|---|---|", "| a | 3 |", "", "![x](x.png)"]])
    assert "| a | 3 |\n| b | 2 |\n\n![x](x.png)\n" in new and "| a | 1 |" not in new
    again = merged(new, [["## Reading", "", "fast"]])
    assert "## Reading\n\nfast\n\n## Copying\n\ndone\n" in again and again.count("## ") == 3
