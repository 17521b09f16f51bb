"""Reading a view of each kind on DuckDB, after a batch, against running its query: what readers are left to do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.data import Workload, catalog, generate, tables
from benchmarks.driven import compare
from benchmarks.refresh import Difference, OnDuckDB, timed
from compiler.maintain.choose import maintenance_of
from compiler.parse import parse_query
from compiler.view import compile_view

BATCH, REPEAT = 1_000, 5
KINDS = {
    "rows of a table": "SELECT o_orderkey, o_totalprice * 2 AS twice FROM orders WHERE o_orderpriority = '1-URGENT'",
    "few groups": "SELECT o_orderpriority, count(*) AS n, sum(o_totalprice) AS s FROM orders GROUP BY o_orderpriority",
    "many groups": "SELECT o_custkey, count(*) AS n, sum(o_totalprice) AS s FROM orders GROUP BY o_custkey",
    "groups of a join": "SELECT c_nationkey, o_orderpriority, sum(o_totalprice) AS s FROM orders "
    "JOIN customer ON c_custkey = o_custkey GROUP BY c_nationkey, o_orderpriority",
    "groups of groups": "SELECT n, count(*) AS customers FROM (SELECT o_custkey, count(*) AS n FROM orders "
    "GROUP BY o_custkey) AS x GROUP BY n",
    "ROLLUP": "SELECT o_orderpriority, o_orderstatus, count(*) AS n FROM orders "
    "GROUP BY ROLLUP (o_orderpriority, o_orderstatus)",
    "extrema": "SELECT o_custkey, min(o_totalprice) AS low, max(o_totalprice) AS high FROM orders GROUP BY o_custkey",
    "lists": "SELECT o_custkey, string_agg(o_orderpriority, ',' ORDER BY o_orderkey) AS l FROM orders "
    "WHERE o_custkey < 20000 GROUP BY o_custkey",
    "DISTINCT": "SELECT DISTINCT o_custkey, o_orderpriority FROM orders",
    "UNION": "SELECT o_custkey AS k FROM orders UNION SELECT c_custkey FROM customer",
    "rows of a join": "SELECT o_orderkey, c_name FROM orders JOIN customer ON c_custkey = o_custkey "
    "WHERE c_nationkey = 3",
    "rows of an outer join": "SELECT c_custkey, o_orderkey FROM customer LEFT JOIN orders ON o_custkey = c_custkey "
    "WHERE c_nationkey = 3",
    "NOT EXISTS": "SELECT c_custkey, c_name FROM customer WHERE NOT EXISTS (SELECT FROM orders "
    "WHERE o_custkey = c_custkey)",
    "a window of each partition": "SELECT o_orderkey, o_custkey, rank() OVER (PARTITION BY o_custkey ORDER BY "
    "o_totalprice, o_orderkey) AS r FROM orders WHERE o_custkey < 20000",
    "a window of all rows": "SELECT o_custkey, s, rank() OVER (ORDER BY s DESC, o_custkey) AS r FROM (SELECT "
    "o_custkey, sum(o_totalprice) AS s FROM orders GROUP BY o_custkey) AS x",
    "ORDER BY … LIMIT": "SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC, o_orderkey LIMIT 100",
    "DISTINCT ON": "SELECT DISTINCT ON (o_custkey) o_custkey, o_orderkey, o_totalprice FROM orders "
    "ORDER BY o_custkey, o_totalprice DESC, o_orderkey",
    "what is recent": "SELECT o_orderpriority, count(*) AS n FROM orders WHERE o_orderdate > current_date - 12000 "
    "GROUP BY o_orderpriority",
    "an age in DISTINCT ON": "SELECT DISTINCT ON (o_custkey) o_custkey, o_orderkey, current_date - o_orderdate AS age "
    "FROM orders WHERE o_custkey < 20000 ORDER BY o_custkey, o_totalprice DESC, o_orderkey",
    "a recursion": "WITH RECURSIVE up AS (SELECT c_custkey AS k, 0 AS depth FROM customer WHERE c_custkey < 1000 UNION "
    "SELECT k / 2, depth + 1 FROM up WHERE k > 1) SELECT k, min(depth) AS depth, count(*) AS n FROM up GROUP BY k",
}


def run(scale: float, work: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """A cell for each kind: seconds to read the view and to run its query, and its rows; raises Difference."""
    data, cells = generate(work, scale), []
    with tempfile.TemporaryDirectory(dir=work, prefix="reads-") as folder:
        plans = [compile_view(f"read_{i}", parse_query(query), catalog()) for i, query in enumerate(KINDS.values())]
        kept = tables(plans)
        target = OnDuckDB(Path(folder), kept)
        try:
            workload = Workload(data, kept)
            target.load(data)
            for plan, (kind, query) in zip(plans, KINDS.items(), strict=True):
                target.deploy([plan])
                lsn = target.frontier()
                target.apply(workload.batch(BATCH, lsn), lsn + 1)
                read = timed(lambda p=plan: target.engine.read(p), REPEAT)  # type: ignore[misc]
                ours = query.replace("k / 2", "k // 2").replace("(SELECT FROM", "(SELECT 1 FROM")  # as DuckDB writes it
                target.plain()
                again = timed(lambda q=ours: target.side.execute(q).to_arrow_table(), REPEAT)  # type: ignore[misc]
                target.side.execute(f"CREATE OR REPLACE TEMP TABLE again AS {ours}")
                if n := compare(target.side, f"main.{plan.view}", "temp.again"):
                    raise Difference(f"{kind}: the view differs from its query in {n} rows")
                rows = target.side.execute("SELECT count(*) FROM temp.again").fetchall()[0][0]
                cells.append({"kind": kind, "read": read, "query": again, "rows": rows})
                cells[-1]["maintenance"] = maintenance_of(plan).value
                say(f"{kind}: read {read * 1e3:.1f} ms, query {again * 1e3:.1f} ms, {rows:,} rows")
        finally:
            target.close()
    return {"scale": scale, "batch": BATCH, "cells": cells}
