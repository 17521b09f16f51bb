"""A prepared statement of DuckDB answers by the statistics that its tables had when it was prepared.

So statements that read tables are planned anew each time (docs/decisions/duckdb-2.md), and those alone that read
streams are prepared (docs/decisions/small-batches.md). When this fails, DuckDB has mended it.
"""

from __future__ import annotations

import duckdb
import pytest

CASES = {  # a table, a query, and what the table gets once the query is prepared
    "a filter that no row met": ("SELECT -1::BIGINT AS c", "SELECT count(*) FROM a WHERE c > 0", "(5)"),
    "a filter that all rows met": ("SELECT 5::BIGINT AS c", "SELECT count(*) FROM a WHERE c > 0", "(-5)"),
    "no NULL": ("SELECT 5::BIGINT AS c", "SELECT count(*) FROM a WHERE c IS NULL", "(NULL)"),
    "no NULL in COALESCE": ("SELECT 5::BIGINT AS c", "SELECT sum(coalesce(c, 7)) FROM a", "(NULL)"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_still_does(case: str) -> None:
    table, query, row = CASES[case]
    with duckdb.connect() as con:
        con.execute(f"CREATE TEMP TABLE a AS {table}")
        con.execute(f"PREPARE p AS {query}")
        con.execute(f"INSERT INTO a VALUES {row}")
        assert con.execute("EXECUTE p").fetchall() != con.execute(query).fetchall()
