"""A view's own text, for the source to compute."""

from __future__ import annotations

from typing import Any

import psycopg
from sqlglot import exp

from compiler.bind.query import Binder
from compiler.catalog import Catalog
from compiler.parse import ViewText
from pipelines.asking.renamed import aliases, reading
from pipelines.refused import qualified
from pipelines.warehouse import Warehouse


def inlined(warehouse: Warehouse, view: str, conn: psycopg.Connection[Any]) -> str:
    """The view's SELECT, with the other views it reads as CTEs, and tables whose columns have other names by now."""
    texts = {n: c.text for n, c in warehouse.compiled.items() if c.text is not None}
    catalog = warehouse.deployment.to_catalog()
    read_tables = warehouse.view(view)[1].tables
    tables = [t for t in catalog.tables.values() if t.elsewhere and qualified(t) in read_tables]
    order = [*_read_views(texts, catalog, view), view]
    bodies = {n: texts[n].sql for n in order}
    if tables:
        of = aliases(conn, tables)
        bodies = {n: reading(sql, catalog, of) for n, sql in bodies.items()}
    *read, last = bodies.values()
    if not read:
        return last
    ctes = ",\n".join(f'"{n}" AS (\n{sql}\n)' for n, sql in zip(order, read, strict=False))
    return f"WITH {ctes} SELECT * FROM (\n{last}\n) AS whole"


def _read_views(texts: dict[str, ViewText], catalog: Catalog, name: str) -> list[str]:
    """The views that a view reads, each after those that it reads itself."""
    if not any(t.name in texts for t in texts[name].query.find_all(exp.Table)):
        return []
    order: list[str] = []

    def visit(n: str) -> None:
        b = Binder(catalog, {m: t.query for m, t in texts.items() if m != n}, (n,))
        b.view(texts[n].query.copy())
        for m in sorted(b.reads_views):
            visit(m)
        if n not in order:
            order.append(n)

    visit(name)
    return order[:-1]
