"""Java is started by whichever thread needs it first, beside others that ask DuckDB."""

from __future__ import annotations

import subprocess
import sys

BESIDE = """
import threading, duckdb
from connectors.spark.session import start

held, ready, over = threading.local(), threading.Semaphore(0), threading.Event()

def hold():
    held.con = duckdb.connect()
    held.con.execute("SELECT sum(range) FROM range(1000000)").fetchall()
    ready.release()
    over.wait()

def begin():
    print("rows:", start("local[1]", "", {}).range(3).count())

for _ in range(4):
    threading.Thread(target=hold, daemon=True).start()
for _ in range(4):
    ready.acquire()
t = threading.Thread(target=begin)
t.start()
t.join()
over.set()
"""


def test_it_starts_beside_threads_that_have_connections() -> None:
    """In the process that is forked for it their connections were let go of, which crashed it."""
    done = subprocess.run([sys.executable, "-c", BESIDE], capture_output=True, text=True, timeout=120)
    assert "rows: 3" in done.stdout, done.stderr
