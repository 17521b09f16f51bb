"""Connections to DuckDB."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
from pathlib import Path

import pytest

from connectors.duckdb.session import beside, connect, scratch

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


def test_results_are_made_before_they_are_read(tmp_path: Path) -> None:
    """Read while it is made, one of windows or unions may never come (DuckDB 1.5.5): 100 % of a core in
    StreamQueryResult, now and then."""
    con = connect(tmp_path / "w.duckdb", read_only=False)
    for c in (scratch(), con, beside(con)):
        (size,) = c.execute("SELECT current_setting('streaming_buffer_size')").fetchone() or ("",)
        assert size == "931.3 GiB"


def test_no_other_connection_is_opened() -> None:
    """A cursor of DuckDB has none of these settings by itself."""
    root = Path(__file__).resolve().parents[2]
    files = [f for d in ("connectors", "pipelines") for f in (root / d).rglob("*.py") if "postgres" not in f.parts]
    found = [
        f"{f.relative_to(root)}: {line.strip()}"
        for f in files
        for line in f.read_text().splitlines()
        if (".cursor()" in line or "to_arrow_reader" in line) and f.name != "session.py"
    ]
    assert not found, found


@pytest.mark.slow
def test_windows_read_again_and_again_come_to_an_end() -> None:
    """Some thirty times were enough for one to hang."""
    con = scratch()
    made = "SELECT i, hash(i) % 1000000 / 1e6 AS moment, hash(i)::VARCHAR AS v FROM range(800000) r(i)"
    con.execute(f"CREATE TABLE t AS {made}")
    con.execute("CREATE TABLE s AS SELECT * FROM t ORDER BY moment")
    faulthandler.dump_traceback_later(120, exit=True)
    counted = "row_number() OVER (ORDER BY moment) AS n, moment, v, i::VARCHAR AS w"
    query = f"SELECT {counted} FROM s WHERE moment > ? AND moment <= ?"
    for _ in range(60):
        rows = [con.execute(query, [k / 15, (k + 1) / 15]).to_arrow_table().num_rows for k in range(15)]
        assert sum(rows) >= 799_000
    faulthandler.cancel_dump_traceback_later()
