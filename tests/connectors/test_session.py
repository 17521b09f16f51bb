"""Connections to DuckDB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from connectors.duckdb.session import connect

ASK = """
from pathlib import Path
from connectors.duckdb.session import connect, scratch
for con in (scratch(), connect(Path('w.duckdb'), read_only=False)):
    print(con.execute("SELECT current_setting('enable_progress_bar'), current_setting('TimeZone')").fetchone())
"""


def test_nothing_is_printed_among_the_output_where_python_looks_interactive(tmp_path: Path) -> None:
    """DuckDB draws a progress bar on stdout after two seconds where no file is run, and `deploy --json` was no JSON."""
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["(False, 'UTC')"] * 2


def test_anti_joins_of_an_empty_table(tmp_path: Path) -> None:
    """With DuckDB 1.5.5's compressed materialization: INTERNAL Error: Failed to bind column reference "_weight"
    (found by scripts/fuzz)."""
    con = connect(tmp_path / "w.duckdb", read_only=False)
    con.execute("CREATE TABLE s (t3 VARCHAR, max_2 INTEGER, _weight BIGINT)")
    got = con.execute("""
        WITH picked AS (SELECT t3 AS k, _weight FROM s WHERE t3 IS NULL)
        SELECT 1.25::DOUBLE AS value, sum(s._weight * s_2._weight)::BIGINT AS _count
        FROM s JOIN s AS s_2 ON s.max_2 = s_2.max_2
        ANTI JOIN s AS s_3 ON s_3.t3 = s.t3 AND s.t3 = s_3.t3
        ANTI JOIN picked ON picked.k = s.t3
        ANTI JOIN s AS s_5 ON s_5.t3 = s.t3 AND (s.t3 IS NULL) = (s_5.t3 IS NULL OR NOT s_5.t3 IS NULL)
        GROUP BY 1""").fetchall()
    assert got == []
