"""The order of joins: no product where the conditions connect the relations."""

from __future__ import annotations

import pytest

from compiler.bind.query import Binder
from compiler.catalog import read_schema
from compiler.ir.relation import Join, walk
from compiler.ir.scalar import TRUE
from compiler.normalize import normalize
from compiler.parse import parse_query

SCHEMA = """CREATE TABLE part (p int PRIMARY KEY, name text); CREATE TABLE supplier (s int PRIMARY KEY, name text);
CREATE TABLE line (l int PRIMARY KEY, p int, s int, d int); CREATE TABLE day (d int PRIMARY KEY)"""


def products(sql: str) -> int:
    """How many joins of the normalized query have no condition."""
    rel = normalize(Binder(read_schema(SCHEMA)).view(parse_query(sql)).rel)
    return sum(isinstance(n, Join) and n.on == TRUE for n in walk(rel))


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT l FROM part, supplier, line WHERE line.p = part.p AND line.s = supplier.s", 0),
        (
            "SELECT l FROM day a, day b, part, supplier CROSS JOIN line WHERE line.p = part.p AND line.s = supplier.s "
            "AND a.d = line.d AND b.d < line.d",
            0,
        ),
        ("SELECT line.l FROM part CROSS JOIN supplier JOIN line ON line.p = part.p AND line.s = supplier.s, day", 1),
        ("SELECT line.l FROM part, day, line, supplier WHERE line.p = part.p AND supplier.s = day.d", 1),
        ("SELECT l FROM part, supplier, line WHERE part.p + supplier.s = line.l", 1),
    ],
)
def test_products_remain_only_where_nothing_connects(sql: str, count: int) -> None:
    assert products(sql) == count
