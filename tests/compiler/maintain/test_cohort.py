"""Which paced views go together: those that share a state, or share one with others that do."""

from __future__ import annotations

from compiler.catalog import read_schema
from compiler.maintain.cohort import cohorts
from compiler.maintain.lag import Lag
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_query
from compiler.view import compile_view

CATALOG = read_schema(
    "CREATE TABLE t (id int PRIMARY KEY, g int, x int); CREATE TABLE u (id int PRIMARY KEY, g int, y int);"
)
SUMS, MOST = "SELECT g, sum(x) AS s FROM t GROUP BY g", "SELECT g, max(y) AS m FROM u GROUP BY g"
VIEWS = {
    "spread": (f"SELECT s, count(*) AS n FROM ({SUMS}) a GROUP BY s", 60.0),
    "alone": ("SELECT id FROM t WHERE x > 1", 5.0),
    "ranges": (f"SELECT m, count(*) AS n FROM ({MOST}) a GROUP BY m", 30.0),
    "eager": (SUMS, None),
    "late": ("SELECT count(*) AS n FROM u", 20.0),
    "sums": (SUMS, 40.0),
}


def test_they_are_found_by_what_they_share() -> None:
    each = {
        name: compile_view(name, parse_query(sql), CATALOG, lag=Lag(seconds) if seconds is not None else None)
        for name, (sql, seconds) in VIEWS.items()
    }
    found = cohorts(each.values())
    assert [c.views for c in found] == [("spread", "sums"), ("alone",), ("ranges",), ("late",)]
    assert [c.lag for c in found] == [40.0, 5.0, 30.0, 20.0]
    names = [s.name for s in found[0].states]
    assert len(names) == len(set(names)) and found[0].shown == each["spread"].shown | each["sums"].shown
    assert not {s.name for s in each["eager"].states} & {s.name for c in found for s in c.states}
    both = ViewPlan("both", [*each["ranges"].states, *each["spread"].states], each["sums"].top, [], lag=Lag(10.0))
    found = cohorts([*each.values(), both])
    assert [c.views for c in found] == [("spread", "ranges", "sums", "both"), ("alone",), ("late",)]
    assert found[0].lag == 10.0 and found[0].tables == {"public.t", "public.u"}
