"""The six views that are measured, over TPC-H tables; the same text runs as a plain query."""

from __future__ import annotations

from compiler.catalog import Catalog
from compiler.maintain.choose import AUTO
from compiler.maintain.plan import ViewPlan
from compiler.parse import parse_query
from compiler.view import compile_view

VIEWS = {
    "grouped_aggregate": """
SELECT l_returnflag, l_linestatus, count(*) AS lines, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
       sum(l_extendedprice * (1 - l_discount)) AS discounted, avg(l_discount) AS average_discount
FROM lineitem GROUP BY l_returnflag, l_linestatus""",
    "two_way_join": """
SELECT o_orderpriority, count(*) AS lines, sum(l_quantity) AS quantity
FROM orders JOIN lineitem ON l_orderkey = o_orderkey GROUP BY o_orderpriority""",
    "three_way_join": """
SELECT c_nationkey, c_mktsegment, count(*) AS lines, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON o_custkey = c_custkey JOIN lineitem ON l_orderkey = o_orderkey
GROUP BY c_nationkey, c_mktsegment""",
    "min_max": """
SELECT l_partkey, min(l_extendedprice) AS cheapest, max(l_extendedprice) AS dearest FROM lineitem GROUP BY l_partkey""",
    "correlated_average": """
SELECT p_container, sum(l_extendedprice) / 7.0 AS yearly
FROM part JOIN lineitem l ON l_partkey = p_partkey
WHERE p_brand = 'Brand#23'
  AND l_quantity < (SELECT 0.2 * avg(i.l_quantity) FROM lineitem i WHERE i.l_partkey = p_partkey)
GROUP BY p_container""",
    "group_of_group": """
SELECT n_orders, count(*) AS customers
FROM (SELECT o_custkey, count(*) AS n_orders FROM orders GROUP BY o_custkey) AS c GROUP BY n_orders""",
}


def compile_all(catalog: Catalog, strategy: str = AUTO) -> dict[str, ViewPlan]:
    """Every view's plan by a strategy, by name."""
    return {name: compile_view(name, parse_query(text), catalog, strategy=strategy) for name, text in VIEWS.items()}
