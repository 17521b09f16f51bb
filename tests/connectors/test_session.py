"""Connections to DuckDB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ASK = """
from pathlib import Path
from connectors.duckdb.session import connect, scratch
for con in (scratch(), connect(Path('w.duckdb'), read_only=False)):
    print(con.execute("SELECT current_setting('enable_progress_bar'), current_setting('TimeZone')").fetchone())
"""


def test_nothing_is_printed_among_the_output_where_python_looks_interactive(tmp_path: Path) -> None:
    """DuckDB draws a progress bar on stdout after two seconds where no file is run, and `deploy --json` was no JSON."""
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["(False, 'UTC')"] * 2
