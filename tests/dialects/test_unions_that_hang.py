"""DuckDB waits for ever for a UNION ALL of a join and of groups of a join over the same table, of a million rows.

Readers that add up only what waits in a tail would be made so (docs/decisions/tails.md). When this fails, DuckDB has
mended it, and they can be.
"""

from __future__ import annotations

import subprocess
import sys

QUERY = """
import duckdb
c = duckdb.connect()
c.execute("CREATE TABLE s AS SELECT i::int AS k, 1::bigint AS w FROM range(3000000) t(i)")
c.execute("CREATE TABLE t AS SELECT k, -1::bigint AS w FROM s WHERE k % 1500 = 0")
print("made", flush=True)
print(c.execute('''
    SELECT s.k, s.w FROM s ANTI JOIN t ON s.k = t.k UNION ALL
    SELECT k, sum(w)::bigint FROM (SELECT s.* FROM s SEMI JOIN t ON s.k = t.k UNION ALL SELECT * FROM t) GROUP BY k
''').to_arrow_table().num_rows)
"""


def test_it_still_does() -> None:
    with subprocess.Popen([sys.executable, "-c", QUERY], stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout is not None and p.stdout.readline() == "made\n"
        try:
            p.wait(8)
            mended = True
        except subprocess.TimeoutExpired:
            mended = False
        finally:
            p.kill()
    assert not mended
